/**
 * Job ids count microseconds of the database's clock, and at least one further for each id. A database that is restored
 * from a backup takes back every sequence but not the time, so no job id ever names two grants. An older program keeps
 * using the sequence, which is never behind.
 */
export const jobids = `
CREATE FUNCTION fluxqueue.next_jobid() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  microseconds bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
  successor bigint := nextval('fluxqueue.jobid');
BEGIN
  IF successor >= microseconds THEN RETURN successor; END IF;
  RETURN setval('fluxqueue.jobid', microseconds);
END $$;
ALTER TABLE fluxqueue.workloads ALTER COLUMN jobid SET DEFAULT fluxqueue.next_jobid();
`;
