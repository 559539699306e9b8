/**
 * Rows are stored in the units of their leader. A new leader with other units converts those that are not Finished before
 * it reads them: the units of a stack change with its configuration, and with an upgrade to another default.
 */
import type { PoolClient } from 'pg';
import { countsInUnits, jobspecInUnits } from '../jobspec/convert-units';
import { shapeOf } from '../jobspec/jobspec';
import type { UnitSettings } from '../jobspec/units';
import { formatIdset, parseIdset } from '../resources/idset';
import type { AllocatedNode, UnitIds } from '../resources/types';
import { storable } from './storable';
import type { WorkloadRow } from './workload';

/** The lock waits for writes of the last leader under way. */
const LEADER_UNITS = `SELECT cpu_millis AS "cpuMillis", memory_mib AS "memoryMiB" FROM fluxqueue.leader FOR UPDATE`;

/** Jobspecs that do not name their units are in those of the last leader: $1 of them, and $2 of this one. */
const DIFFER = `SELECT EXISTS (
  SELECT FROM fluxqueue.workloads
  WHERE phase <> 'Finished' AND coalesce(jobspec #> '{attributes,user,units}', $1::jsonb) <> $2::jsonb
) AS differ`;

const ACTIVE = `SELECT uid, jobspec, allocation FROM fluxqueue.workloads WHERE phase <> 'Finished' ORDER BY seq`;

const STORE = `
UPDATE fluxqueue.workloads w SET jobspec = i.jobspec, shape = i.shape, allocation = i.allocation
FROM jsonb_to_recordset($1::jsonb) AS i(uid text, jobspec jsonb, shape text, allocation jsonb)
WHERE w.uid = i.uid`;

type StoredRow = Pick<WorkloadRow, 'uid' | 'jobspec' | 'allocation'>;

/** In the transaction in which the new leader stores its own units. */
export async function convertUnits(client: PoolClient, wanted: UnitSettings): Promise<void> {
  const { cpuMillis, memoryMiB } = wanted;
  const units = { cpuMillis, memoryMiB };
  const leaders = await client.query<UnitSettings>(LEADER_UNITS);
  const assumed = leaders.rows[0]!;
  const answer = await client.query<{ differ: boolean }>(DIFFER, [storable(assumed), storable(units)]);
  if (answer.rows[0]?.differ !== true) return;
  const { rows } = await client.query<StoredRow>(ACTIVE);
  const converted = convertRows(rows, assumed, units);
  const records = converted.map((row) => ({ ...row, shape: shapeOf(row.jobspec) }));
  await client.query(STORE, [storable(records)]);
}

/** @returns the rows that changed. Which units of a node a row gets means nothing, as long as no other row has them. */
function convertRows(
  rows: readonly StoredRow[],
  assumed: UnitSettings,
  wanted: UnitSettings,
): readonly StoredRow[] {
  const changes = rows
    .map((row) => ({ row, jobspec: jobspecInUnits(row.jobspec, assumed, wanted) }))
    .filter(({ row, jobspec }) => jobspec !== row.jobspec);
  const changed = new Set(changes.map(({ row }) => row));
  const taken = new TakenIds();
  for (const row of rows)
    if (!changed.has(row)) for (const part of row.allocation?.nodes ?? []) taken.add(part);
  return changes.map(({ row: { uid, jobspec: before, allocation }, jobspec }) => ({
    uid,
    jobspec,
    allocation: allocation && {
      ...allocation,
      nodes: allocation.nodes.map((part) => ({
        ...part,
        units: taken.take(part.name, countsInUnits(part, before, jobspec)),
      })),
    },
  }));
}

/** Units that rows hold, by node and type. */
class TakenIds {
  private readonly byNode = new Map<string, Map<string, Set<number>>>();

  add({ name, units }: AllocatedNode): void {
    for (const [type, ids] of Object.entries(units)) {
      const taken = this.of(name, type);
      for (const id of parseIdset(ids)) taken.add(id);
    }
  }

  /** The lowest that are free. */
  take(node: string, counts: Readonly<Record<string, number>>): UnitIds {
    const units = Object.entries(counts).map(([type, count]) => {
      const taken = this.of(node, type);
      const ids: number[] = [];
      for (let id = 0; ids.length < count; id++) if (!taken.has(id)) ids.push(id);
      for (const id of ids) taken.add(id);
      return [type, formatIdset(ids)] as const;
    });
    return Object.fromEntries(units);
  }

  private of(node: string, type: string): Set<number> {
    const types = this.byNode.get(node) ?? new Map<string, Set<number>>();
    const ids = types.get(type) ?? new Set<number>();
    this.byNode.set(node, types.set(type, ids));
    return ids;
  }
}
