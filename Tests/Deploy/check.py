"""Checks the definitions of deploy/ against the schemas of those who read them, without any of them at hand.

AWS Batch by the service model of its own client, and the chain of `submit` by the real AWS CLI against a server here; Kubernetes by the
published schemas of several releases.
"""

import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading

import botocore.session
import kubernetes_validate
import yaml
from botocore.validate import ParamValidator

DEPLOY = pathlib.Path(__file__).parents[2] / "deploy"
RELEASES = ["1.31", "1.33", "1.37"]


def validated(service, operation, document, name):
    shape = service.operation_model(operation).input_shape
    report = ParamValidator().validate(document, shape).generate_report()
    if report:
        sys.exit(f"{name}: {report}")


def check_batch(service):
    definitions = sorted((DEPLOY / "aws-batch").glob("*.json"))
    for path in definitions:
        validated(service, "RegisterJobDefinition", json.loads(path.read_text()), path)
    broken = json.loads(definitions[0].read_text())
    broken["containerProperties"]["memorry"] = 1
    shape = service.operation_model("RegisterJobDefinition").input_shape
    if not ParamValidator().validate(broken, shape).has_errors():
        sys.exit("a definition with an unknown member is taken: this checks nothing")
    print(f"{len(definitions)} definitions of AWS Batch are as RegisterJobDefinition takes them")


class Batch(http.server.BaseHTTPRequestHandler):
    asked = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((self.path, body))
        answer = json.dumps({"jobId": f"id-{len(self.asked)}", "jobName": body.get("jobName", "")}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def check_submission(service):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Batch)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = dict(
        os.environ, PATH=f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}", AWS_ACCESS_KEY_ID="none",
        AWS_SECRET_ACCESS_KEY="none", AWS_DEFAULT_REGION="eu-central-1", AWS_ENDPOINT_URL=f"http://127.0.0.1:{server.server_port}")
    subprocess.run([DEPLOY / "aws-batch" / "submit", "2026-01-15", "2026-01-14", "p", "d", "s"], env=environment, check=True)
    server.shutdown()
    for path, body in Batch.asked:
        if path != "/v1/submitjob":
            sys.exit(f"asked for {path}")
        validated(service, "SubmitJob", body, "submit")
    depends = [body.get("dependsOn", []) for _, body in Batch.asked]
    expected = [
        [{"jobId": "p"}], [{"jobId": "id-1"}, {"jobId": "d", "type": "N_TO_N"}], [{"jobId": "id-2"}, {"jobId": "s"}], [{"jobId": "id-3"}]]
    if depends != expected or Batch.asked[1][1]["arrayProperties"] != {"size": 8}:
        sys.exit(f"submit asks for {Batch.asked}")
    print("the AWS CLI submits the chain of a night, an array with N_TO_N in it")


def check_kubernetes():
    # What kustomize reads is not the server's.
    paths = sorted(path for path in (DEPLOY / "kubernetes").glob("*.yaml") if path.stem != "kustomization")
    for release in RELEASES:
        for path in paths:
            kubernetes_validate.validate(yaml.safe_load(path.read_text()), release, strict=True)
    try:
        broken = yaml.safe_load(paths[0].read_text())
        broken["spec"]["jobTemplate"]["spec"]["completionsMode"] = "Indexed"
        kubernetes_validate.validate(broken, RELEASES[-1], strict=True)
        sys.exit("a CronJob with an unknown member is taken: this checks nothing")
    except kubernetes_validate.ValidationError:
        print(f"{len(paths)} CronJobs are as Kubernetes {', '.join(RELEASES)} take them")


if __name__ == "__main__":
    batch = botocore.session.get_session().get_service_model("batch")
    check_batch(batch)
    check_submission(batch)
    check_kubernetes()
