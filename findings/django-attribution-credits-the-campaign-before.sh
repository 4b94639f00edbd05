#!/bin/sh
# django-attribution 0.1.6 (PyPI) with Django 5.2.19, which credits conversions to campaigns.
# The middleware writes the touchpoint of a request after the view has run, and `last_touch` takes only touchpoints older than the conversion. A link
# that opens an offer and counts it in the same request, as links of a push message do, is credited to the campaign of the link before, or to none the
# first time. Nothing is missing: as many conversions and touchpoints as there were, each shifted by one. The README's `signup_view` records in the view
# too, and says "most recent campaign gets credit"; the docstring has "before conversion".
# Seen: three offers opened by links of winter, spring and summer are credited to none, winter and spring; with a page in between, to spring.
exec "$(dirname "$0")/with" django-attribution==0.1.6 django==5.2.19 <<'PYTHON'
import django
from django.conf import settings

settings.configure(
    SECRET_KEY="secret", USE_TZ=True, ALLOWED_HOSTS=["testserver"], ROOT_URLCONF="__main__", DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sessions", "django_attribution"],
    MIDDLEWARE=["django.contrib.sessions.middleware.SessionMiddleware", "django.contrib.auth.middleware.AuthenticationMiddleware",
                "django_attribution.middlewares.TrackingParameterMiddleware", "django_attribution.middlewares.AttributionMiddleware"])
django.setup()

from django.core.management import call_command
from django.http import HttpResponse
from django.test import Client
from django.urls import path
from django_attribution.attribution_models import last_touch
from django_attribution.models import Conversion, Touchpoint
from django_attribution.shortcuts import record_conversion
from seen import expect

def offer(request):
    record_conversion(request, "offer_opened")
    return HttpResponse("ten percent")

def page(request):
    return HttpResponse("shop")

urlpatterns = [path("offer", offer), path("", page)]
call_command("migrate", verbosity=0)

def credited(*links):
    Conversion.objects.all().delete()
    Touchpoint.objects.all().delete()
    phone = Client(headers={"user-agent": "Mozilla/5.0 (iPhone)"})
    for link in links:
        phone.get(link)
    conversions = Conversion.objects.valid().with_attribution(last_touch).order_by("created_at")
    touched = list(Touchpoint.objects.order_by("created_at").values_list("utm_campaign", flat=True))
    return touched, [conversion.attribution_data.get("utm_campaign") for conversion in conversions]

links = [f"/offer?utm_source=push&utm_campaign={campaign}" for campaign in ("winter", "spring", "summer")]
expect("touched and credited", credited(*links), (["winter", "spring", "summer"], [None, "winter", "spring"]))
expect("with a page in between", credited("/?utm_source=push&utm_campaign=spring", "/offer"), (["spring"], ["spring"]))
PYTHON
