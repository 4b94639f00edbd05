# docker build --build-arg COMMIT=$(git rev-parse --short=12 HEAD) -t engage-batch .
# docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/work" engage-batch init nightly
# docker run --rm --user "$(id -u):$(id -g)" -v "$PWD/nightly:/work" engage-batch run job.json --sandbox
#
# --user, because jobs, stores and reports are files of their owner alone. Without it the user is 10001, as in deploy/kubernetes.
#
# Images by digest, of which Dependabot proposes newer ones.
FROM swift:6.3.2-bookworm@sha256:de037fec606b26cee2bf7f93dba8eab7a617f067f94cf78669f929e5a0c6146a AS build
RUN apt-get update -q \
  && apt-get install -y -q --no-install-recommends make python3 libsqlite3-dev libcurl4-openssl-dev liblz4-dev libssl-dev libxml2-dev zlib1g-dev \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY Package.swift ./
RUN swift package resolve
COPY . .
ARG COMMIT=
RUN make build COMMIT=$COMMIT && make install DESTDIR=/installed PREFIX=/usr

FROM debian:bookworm-slim@sha256:7b140f374b289a7c2befc338f42ebe6441b7ea838a042bbd5acbfca6ec875818
RUN apt-get update -q \
  && apt-get install -y -q --no-install-recommends ca-certificates libcurl4 liblz4-1 libsqlite3-0 libssl3 libxml2 tzdata zlib1g \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --uid 10001 --user-group --no-create-home --home-dir /nonexistent engage-batch \
  && install -d -m 0700 -o engage-batch -g engage-batch /work
COPY --from=build /installed/usr /usr
# A crash must not print memory, which may hold tokens.
ENV SWIFT_BACKTRACE=enable=no
USER engage-batch
WORKDIR /work
ENTRYPOINT ["/usr/bin/engage-batch"]
CMD ["--help"]
