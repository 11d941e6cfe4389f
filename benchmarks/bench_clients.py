"""How long a page takes beside 25 pages that another client requests from two processes behind nginx.

Run from the project's root on Linux with nginx: ``PYTHONPATH=tests python benchmarks/bench_clients.py [--repeats 3]``.
The script starts two processes of the app and an nginx with ``deploy/nginx.conf``. One client requests 25 pages. When
the first arrives, another client requests one page. No client opens a WebSocket. The script prints the seconds of
that page, alone and beside the 25.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

from bench_load import deployed
from nginx_proxy import PASSWORD, Proxy

PAGES = 25


def page_seconds(proxy: Proxy, client: str) -> float:
    """Return the seconds that a page takes."""
    begun = time.perf_counter()
    status, _headers, body = proxy.ask("/app?page=noise", Authorization=PASSWORD, X_Test_Client=client)
    assert status == 200
    assert b"</html>" in body
    return time.perf_counter() - begun


def page_beside(proxy: Proxy) -> tuple[float, int]:
    """Return the seconds of a page beside those of a greedy client, and the number of these that came before it."""
    with ThreadPoolExecutor(PAGES) as threads:
        greedy = [threads.submit(page_seconds, proxy, "192.0.2.1") for _ in range(PAGES)]
        wait(greedy, return_when=FIRST_COMPLETED)
        seconds = page_seconds(proxy, "192.0.2.2")
        return seconds, sum(one.done() for one in greedy)


def main() -> None:
    """Serve, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, deployed(Path(folder), 2) as (proxy, _processes):
        for client in range(6):  # both processes have made a page
            page_seconds(proxy, f"198.51.100.{client}")
        alone, beside = [], []
        for _ in range(options.repeats):
            time.sleep(2)
            alone.append(page_seconds(proxy, "192.0.2.2"))
            beside.append(page_beside(proxy))
    for name, times in (("alone", alone), (f"beside {PAGES}", [seconds for seconds, _ in beside])):
        print(f"{name:<10} {statistics.median(times):6.2f} s ({min(times):.2f} to {max(times):.2f})")
    print(f"of the {PAGES}, before it: {', '.join(str(before) for _, before in beside)}")


if __name__ == "__main__":
    main()
