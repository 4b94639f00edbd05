#!/bin/sh
# marketing-attribution-models 2.1.1 (PyPI), DP6's models of which campaign led to a purchase, on touches with user, time and campaign.
# `run_shapley` counts four campaigns of a user. The README of 2.x does not say which; that of 1.x says "the four last channels preceding a
# conversion". They are the last four by name: the names are sorted before the list is cut. With five campaigns the first of the alphabet gets
# nothing, also when its push was the one that was tapped before the purchase, and its share goes to the others. Rename it, and it has credit. The sum
# is right, and nothing is logged. Channels are few, but campaigns many, so most users with a history have more than four.
# Seen: None for "autumn", tapped last, and 0.75 for each of the others; 0.75 for "zebra" in its place, and None for "easter"; 0.6 for all five by the
# linear model.
exec "$(dirname "$0")/with" marketing-attribution-models==2.1.1 polars==2.1.0 <<'PYTHON'
import polars
from mam import MAM
from seen import expect

def models(*campaigns):
    days = range(1, len(campaigns) + 1)
    touches = [(user, f"2026-01-{day:02} 08:00:00", campaign, day == len(campaigns))
               for user in ("ann", "bob", "eve") for day, campaign in zip(days, campaigns)]
    return MAM(polars.DataFrame(touches, schema=["user", "at", "campaign", "bought"], orient="row"), "session", channels_colname="campaign",
               journey_with_conv_colname="bought", datetime_colname="at", user_id_colname="user")

def credit(result):
    return {name: round(share, 3) for name, share in sorted(result.to_polars().iter_rows())}

opens = models("easter", "sale", "news", "push", "autumn")
expect("shapley", credit(opens.run_shapley()), {"easter": 0.75, "news": 0.75, "push": 0.75, "sale": 0.75})
expect("shapley of five", credit(opens.run_shapley(max_size=5)), {"autumn": 0.6, "easter": 0.6, "news": 0.6, "push": 0.6, "sale": 0.6})
expect("linear", credit(opens.run_linear()), {"autumn": 0.6, "easter": 0.6, "news": 0.6, "push": 0.6, "sale": 0.6})
expect("last click", credit(opens.run_last_click()), {"autumn": 3.0})
renamed = models("easter", "sale", "news", "push", "zebra")
expect("renamed", credit(renamed.run_shapley()), {"news": 0.75, "push": 0.75, "sale": 0.75, "zebra": 0.75})
PYTHON
