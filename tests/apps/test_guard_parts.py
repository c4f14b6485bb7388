"""What the guard is made of: host names, strict JSON, counts."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from localface.apps.web.http.errors import RequestRefused
from localface.apps.web.http.hosts import host_without_port, is_loopback
from localface.apps.web.http.json_check import check_json
from localface.apps.web.http.metrics import ServiceMetrics


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.9.1", "::1", "[::1]"])
def test_loopback_has_names_and_two_families_of_addresses(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    [
        *("", "0.0.0.0", "localhost.example", "127.0.0.1.example", "::"),
        *("[127.0.0.1", "127.0.0.1]", "[127.0.0.1]", "[[::1]]", "[::1", "[]"),
        *("[::1%25eth0]", "::1%eth0", "[localhost]"),
    ],
)
def test_what_only_looks_like_loopback_is_refused(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize(
    ("header", "host"),
    [("LOCALHOST", "localhost"), ("a:80", "a"), ("[::1]:80", "[::1]"), (":80", ":80")],
)
def test_a_port_is_cut_off_and_nothing_else(header: str, host: str) -> None:
    assert host_without_port(header) == host


@pytest.mark.parametrize("body", [b"{}", b'{"a": [1, 2.5, "x", null, true]}', b"[[[]]]"])
def test_what_the_standard_calls_json_passes(body: bytes) -> None:
    check_json(body, max_depth=3)


@pytest.mark.parametrize("body", [b"", b"{a: 1}", b"NaN", b"1e999", b'{"a":1,"a":2}', b"[[[[]]]]"])
def test_other_bodies_are_refused_with_400(body: bytes) -> None:
    with pytest.raises(RequestRefused) as refused:
        check_json(body, max_depth=3)
    assert refused.value.status == 400


def test_the_most_that_were_open_is_remembered() -> None:
    metrics = ServiceMetrics()
    for n in (1, 3, 0):
        metrics.set_open_requests(n)
    families = text_string_to_metric_families(metrics.prometheus_text().decode())
    values = {one.name: one.value for family in families for one in family.samples}
    assert values["localface_requests_open"] == 0
    assert values["localface_requests_open_max"] == 3
