# Two images from one file: `--target backend` (page and API, no torch) and `--target worker` (workers and trainer).
# Base images are arguments, so that a mirror or your own image can replace them. The optional build secret `ca` holds
# certificates in PEM form that pip and npm trust besides the usual ones; see docs/docker.md.
ARG NODE_IMAGE=node:22-slim
ARG PYTHON_IMAGE=python:3.12-slim

# Dependencies are installed with an empty copy of our packages, so that a change of the code does not rebuild these
# layers.
FROM ${PYTHON_IMAGE} AS packages
# More options for pip, for example another index.
ARG PIP_OPTIONS=""
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /app
RUN python3 -m venv /opt/arcadia
# pip prefers the wheels in wheels/, if the folder exists. A CPU build of torch there keeps the image small.
COPY requirements.lock wheel[s] /wheels/
COPY pyproject.toml setup.py requirements.lock ./
COPY client/pyproject.toml client/
ENV ARCADIA_ONLY_EXTRAS=1
# If the constraints had hashes, pip would require one for each package, including our own.
RUN for package in backend/arcadia_backend workers/arcadia_workers client/arcadia; do \
        mkdir -p $package && touch $package/__init__.py || exit; \
    done \
    && touch README.md client/README.md \
    && sed -n 's/ *\\$//; /^[A-Za-z]/p' requirements.lock >pins.txt

FROM packages AS worker-packages
# TORCH=cuda ignores CPU builds of torch in wheels/.
ARG TORCH=""
RUN --mount=type=secret,id=ca,target=/run/ca.pem set -e; \
    if [ -s /run/ca.pem ]; then \
        cat "$(/opt/arcadia/bin/python -m pip._vendor.certifi)" /run/ca.pem >/tmp/ca.pem; export PIP_CERT=/tmp/ca.pem; \
    fi; \
    if [ "${TORCH}" = cuda ]; then rm -f /wheels/torch-*+cpu*; fi; \
    /opt/arcadia/bin/pip install ${PIP_OPTIONS} --find-links /wheels -c pins.txt -e ./client -e ".[worker,trainer]"; \
    if [ "${TORCH}" = cuda ] && ! /opt/arcadia/bin/python -c "import sys, torch; sys.exit(not torch.version.cuda)"; then \
        echo "pip found no torch with CUDA. Name an index that has it in PIP_OPTIONS." >&2; exit 1; \
    fi

FROM ${PYTHON_IMAGE} AS arcadia
ENV PATH=/opt/arcadia/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
RUN useradd --system --uid 10001 --user-group --create-home arcadia \
    && install -d -o arcadia -g arcadia -m 0700 /data
WORKDIR /app
COPY pyproject.toml setup.py README.md ./
COPY backend/ backend/
COPY client/generate_sync.py client/
COPY client/arcadia/ client/arcadia/
RUN python3 client/generate_sync.py
COPY workers/ workers/
VOLUME /data
# The commit that the image is built from. It distinguishes builds of one version.
ARG ARCADIA_BUILD=""
ENV ARCADIA_BUILD=${ARCADIA_BUILD}
ENTRYPOINT ["arcadia"]

FROM arcadia AS worker
COPY --from=worker-packages /opt/arcadia /opt/arcadia
# The worker touches this file whenever the backend answers its heartbeat.
ENV ARCADIA_WORKER_DIR=/data ARCADIA_WORKER_ALIVE_FILE=/tmp/alive
USER arcadia
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["sh", "-c", "test -n \"$(find /tmp/alive -mmin -0.5)\""]
CMD ["worker", "--queue", "cpu"]

FROM ${NODE_IMAGE} AS frontend
WORKDIR /frontend
COPY frontend/package.json frontend/package-lock.json frontend/.npmrc ./
# More options for npm, for example another registry.
ARG NPM_OPTIONS=""
RUN --mount=type=secret,id=ca,target=/run/ca.pem \
    if [ -s /run/ca.pem ]; then export NODE_EXTRA_CA_CERTS=/run/ca.pem; fi; npm ci --omit=dev ${NPM_OPTIONS}
COPY frontend/ ./
RUN npm run build

FROM packages AS backend-packages
RUN --mount=type=secret,id=ca,target=/run/ca.pem set -e; \
    if [ -s /run/ca.pem ]; then \
        cat "$(/opt/arcadia/bin/python -m pip._vendor.certifi)" /run/ca.pem >/tmp/ca.pem; export PIP_CERT=/tmp/ca.pem; \
    fi; \
    /opt/arcadia/bin/pip install ${PIP_OPTIONS} --find-links /wheels -c pins.txt -e ./client -e ".[backend]"

# The client's wheel and the packages that it needs, which the server offers for download.
FROM backend-packages AS client-wheels
COPY setup/wheels.py setup/
COPY client/ client/
RUN --mount=type=secret,id=ca,target=/run/ca.pem set -e; \
    if [ -s /run/ca.pem ]; then \
        cat "$(/opt/arcadia/bin/python -m pip._vendor.certifi)" /run/ca.pem >/tmp/ca.pem; export PIP_CERT=/tmp/ca.pem; \
    fi; \
    /opt/arcadia/bin/pip install ${PIP_OPTIONS} --find-links /wheels -c pins.txt setuptools; \
    /opt/arcadia/bin/python setup/wheels.py client; \
    /opt/arcadia/bin/python setup/wheels.py dependencies ${PIP_OPTIONS}

FROM arcadia AS backend
COPY --from=backend-packages /opt/arcadia /opt/arcadia
COPY alembic/ alembic/
COPY --from=frontend /frontend/dist frontend/dist
COPY --from=client-wheels /app/client/dist client/dist
ENV ARCADIA_DATA_DIR=/data
USER arcadia
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=6 \
    CMD ["python3", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/api/v1/health', timeout=4)"]
CMD ["backend"]
