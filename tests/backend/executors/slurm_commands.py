"""The commands sbatch, scancel, squeue, scontrol and sacct of a Slurm whose jobs a test moves from state to state.

A test links this file under their names into a folder of PATH. Beside it are `site.json`, with the jobs and how the
site behaves, and `calls.jsonl`, with the submissions, and `canceled`, with the
canceled jobs.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

FOLDER = Path(sys.argv[0]).parent
ACTIVE = {"PENDING", "RUNNING", "SUSPENDED", "COMPLETING"}


def record(job: dict[str, Any], *, is_new: bool) -> dict[str, Any]:
    """Return a job as `--json` writes it: in Slurm 22.05, or with the objects of 24.05."""

    def number(value: int | None) -> Any:
        return {"set": value is not None, "infinite": False, "number": value or 0} if is_new else value

    code, signal = job["exit_code"], job["signal"]
    status: Any = (code << 8) + signal
    if is_new:
        status = {"status": [], "return_code": number(code), "signal": {"id": number(signal or None), "name": ""}}
    return {
        "array_job_id": number(job["array"] or 0),
        "array_task_id": number(job["task"]),
        "array_task_string": "",
        "comment": job["mark"],
        "cpus": number(1),
        "end_time": number(job["ended"]),
        "exit_code": status,
        "job_id": job["id"],
        "job_state": job["states"] if is_new else job["states"][-1],
        "nodes": "n1",
        "partition": "low",
        "priority": number(1),
        "start_time": number(job["started"]),
        "state_reason": "None",
        "tres_alloc_str": "cpu=1",
    }


def submit(site: dict[str, Any], arguments: list[str]) -> str:
    """Store the tasks of a submission, or refuse it."""
    options = dict(each.partition("=")[::2] for each in arguments)
    count = int(options.get("--array", "0-0").partition("%")[0].partition("-")[2]) + 1
    if len([job for job in site["jobs"] if job["states"][0] in ACTIVE]) + count > site["max_submitted"]:
        sys.exit(
            "sbatch: error: AssocMaxSubmitJobLimit\nsbatch: error: Batch job submission failed: Job violates "
            "accounting/QOS policy (job submit limit, user's size and/or time limits)"
        )
    if site["refused_option"] in arguments:
        sys.exit("sbatch: error: Invalid qos specification")
    first = 1 + max((job["id"] for job in site["jobs"]), default=0)
    for task in range(count):
        array = first if "--array" in options else None
        job = {"id": first + task, "array": array, "task": task if array else None, "mark": options["--job-name"]}
        site["jobs"].append(
            {**job, "states": ["PENDING"], "exit_code": 0, "signal": 0, "started": 0, "ended": 0, "is_purged": False}
        )
    (FOLDER / "site.json").write_text(json.dumps(site))
    with (FOLDER / "calls.jsonl").open("a") as calls:
        calls.write(json.dumps({"arguments": arguments, "script": sys.stdin.read()}) + "\n")
    return str(first)


def table(site: dict[str, Any]) -> str:
    """Return the table of sacct."""
    if not site["has_accounting"]:
        sys.exit("Slurm accounting storage is disabled")
    rows = []
    for job in site["jobs"]:
        name = f"{job['array']}_{job['task']}" if job["array"] else str(job["id"])
        state = {"CANCELLED": "CANCELLED by 1000"}.get(job["states"][0], job["states"][0])
        status = f"{job['exit_code']}:{job['signal']}"
        rows.append(f"{name}|{job['mark']}|{state}|{status}|n1|1|cpu=1|{job['started']}|{job['ended']}")
    return "\n".join(rows)


def main() -> None:
    """Run the command whose name this file has."""
    command, arguments = Path(sys.argv[0]).name, sys.argv[1:]
    site = json.loads((FOLDER / "site.json").read_text())
    while (FOLDER / "hanging").exists():
        time.sleep(0.05)
    kept = [job for job in site["jobs"] if not job["is_purged"]]
    if command == "sbatch":
        print(submit(site, arguments))
    elif command == "scancel":
        with (FOLDER / "canceled").open("a") as canceled:
            canceled.write("\n".join(arguments[1:]) + "\n")
    elif command == "sacct":
        print(table(site))
    elif command == "scontrol" and "config" in arguments:
        print("MaxArraySize            = 1001")
    elif command == "scontrol":
        number = int(arguments[-1])
        found = [job for job in kept if number in (job["id"], job["array"])]
        print(json.dumps({"jobs": [record(job, is_new=site["is_new"]) for job in found], "errors": []}))
    elif command == "squeue":
        hides = site["hides_ended"] or (site["is_new"] and "--states=all" not in arguments)
        shown = [job for job in kept if not hides or job["states"][0] in ACTIVE or "COMPLETING" in job["states"]]
        print(json.dumps({"jobs": [record(job, is_new=site["is_new"]) for job in shown], "errors": []}))


if __name__ == "__main__":
    main()
