# Two images from one file: `--target backend` (page and API, no torch) and `--target worker` (workers and trainer).
# Base images are arguments, so that a mirror or an image of your own can stand in.
ARG NODE_IMAGE=node:22-slim
ARG PYTHON_IMAGE=python:3.12-slim

# Dependencies are installed against an empty copy of our packages, at the place where the code will lie: these layers
# are built again when the lock changes, not with every line of ours.
FROM ${PYTHON_IMAGE} AS packages
# More options for pip, for example where it should look for packages.
ARG PIP_OPTIONS=""
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /app
RUN python3 -m venv /opt/arcadia
# Wheels in the folder wheels/, if there is one, are preferred: so a CPU build of torch is chosen.
COPY requirements.lock wheel[s] /wheels/
COPY pyproject.toml requirements.lock README.md ./
RUN mkdir backend workers && touch backend/__init__.py workers/__init__.py

FROM packages AS worker-packages
RUN /opt/arcadia/bin/pip install ${PIP_OPTIONS} --find-links /wheels -c requirements.lock -e ".[worker,trainer]"

FROM ${PYTHON_IMAGE} AS arcadia
ENV PATH=/opt/arcadia/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
RUN useradd --system --uid 10001 --user-group --create-home arcadia \
    && install -d -o arcadia -g arcadia -m 0700 /data
WORKDIR /app
COPY pyproject.toml README.md ./
COPY backend/ backend/
COPY workers/ workers/
VOLUME /data
ENTRYPOINT ["arcadia"]

FROM arcadia AS worker
COPY --from=worker-packages /opt/arcadia /opt/arcadia
ENV ARCADIA_WORKER_DIR=/data
USER arcadia
CMD ["worker", "--queue", "cpu", "--name", "worker-1"]

FROM ${NODE_IMAGE} AS frontend
WORKDIR /frontend
COPY frontend/package.json frontend/package-lock.json frontend/.npmrc ./
RUN npm ci --omit=dev
COPY frontend/ ./
RUN npm run build

FROM packages AS backend-packages
RUN /opt/arcadia/bin/pip install ${PIP_OPTIONS} --find-links /wheels -c requirements.lock -e ".[backend]"

FROM arcadia AS backend
COPY --from=backend-packages /opt/arcadia /opt/arcadia
COPY alembic/ alembic/
COPY --from=frontend /frontend/dist frontend/dist
ENV ARCADIA_DATA_DIR=/data
USER arcadia
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=6 \
    CMD ["python3", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/api/v1/health', timeout=4)"]
CMD ["backend"]
