# Sharing: what two runs of Snakemake on one results folder want is made once. Comes last, since it
# asks all rules what this study makes.
from poolbias import errors, sharing

RUN = None
if sharing.runs_jobs(
    sys.argv[1:], workflow.output_settings.dryrun, workflow.is_main_process
):
    try:
        RUN = sharing.enter(Path("results"))
    except OSError as error:
        raise WorkflowError(errors.told(error)) from None
    RUN.wait(lambda file: any(rule.is_producer(file) for rule in workflow.rules))


onstart:
    if RUN:
        RUN.claim(
            str(file) for job in workflow.dag.needrun_jobs() for file in job.output
        )
