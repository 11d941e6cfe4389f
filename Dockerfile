# The app in a container: docker build -t dpml . && docker run --rm -p 5006:5006 dpml
# The server listens inside the container only. For other users, put a proxy with TLS and authentication before it:
# see docs/how_to/serve.md.
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY dpml dpml
COPY app app
COPY data data
RUN pip wheel --no-cache-dir --wheel-dir /wheels ".[large,release]"

FROM python:3.12-slim
RUN apt-get update && apt-get install --yes --no-install-recommends libjemalloc2 && rm -r /var/lib/apt/lists
RUN useradd --create-home --uid 10001 dpml
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --no-index --find-links /wheels "dpml-explorer[large,release]" && rm -r /wheels
USER dpml
WORKDIR /home/dpml
ENV DPML_DATA=/home/dpml/data OMP_NUM_THREADS=1 PYTHONUNBUFFERED=1
# Return freed memory to the system. Python's own allocator keeps a block of 1 MB for one object, and the C library
# returns only the end of its heap. jemalloc returns each free page after 5 s, also while the process is idle.
ENV LD_PRELOAD=libjemalloc.so.2 PYTHONMALLOC=malloc ARROW_DEFAULT_MEMORY_POOL=system
ENV MALLOC_CONF=narenas:1,background_thread:true,dirty_decay_ms:5000,muzzy_decay_ms:0
EXPOSE 5006
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s CMD ["python", "-m", "dpml_app", "--check"]
ENTRYPOINT ["python", "-m", "dpml_app", "--host", "0.0.0.0"]
CMD ["--idle-minutes", "60", "--upload-mb", "50"]
