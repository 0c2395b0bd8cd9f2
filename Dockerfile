# docker build -t frostline . && apptainer build frostline.sif docker-daemon://frostline:latest
FROM python:3.11-slim
RUN apt-get update && apt-get install -y --no-install-recommends g++ make libgomp1 && rm -rf /var/lib/apt/lists/*
WORKDIR /frostline
COPY . .
RUN make setup
ENV PATH=/frostline/.venv/bin:$PATH
