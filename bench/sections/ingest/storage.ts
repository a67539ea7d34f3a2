import { CatalogCache } from '../../../src/areas/catalog/usage-shapes/storing-catalog.ts';
import { createFinisherNudge } from '../../../src/areas/usage/ingest-events/nudge-finisher.ts';
import { storeEvents } from '../../../src/areas/usage/ingest-events/store-events.ts';
import { realNow } from '../../../src/platform/clock/real-clock.ts';
import { incomingEvents, singleBatches } from '../../data/incoming.ts';
import type { Findings } from '../../harness/report.ts';
import { interleave, median, ratioOf } from '../../harness/rounds.ts';
import { openHarnessRuntime } from '../../harness/runtime.ts';
import { perSecond } from '../../harness/units.ts';
import { copyRows, openRawCopy } from '../../load/raw-copy.ts';
import type { IngestRun } from './run.ts';

const BATCH = 1000;
const BATCHES_A_ROUND = 40;
const WARM_UP_BATCHES = 5;

/** G5: the storing statement with its rollups, one caller after another, beside COPY of the same rows. */
export async function measureStorage(run: IngestRun, findings: Findings): Promise<void> {
  const { environment, effort, organization } = run;
  const runtime = openHarnessRuntime(environment, 'bench storage');
  const finisher = createFinisherNudge(runtime.producer);
  const deps = { ...runtime, finisher, catalogs: new CatalogCache() };
  const copy = openRawCopy(environment, run.copyTable);
  let first = 0;
  const nextEvents = (label: string) => {
    const events = incomingEvents(run.source(label), first, BATCH);
    first += BATCH;
    return events;
  };
  const copyBatches = (count: number) => {
    const at = realNow().toString();
    const batches = Array.from({ length: count }, () => copyRows(organization.id, nextEvents('copy'), at));
    return eventsPerSecond(batches, (batch) => copy.copy(batch));
  };
  const storeBatches = (count: number) => {
    const batches = Array.from({ length: count }, () => singleBatches(organization.id, nextEvents('store')));
    run.mustBeStored += count * BATCH;
    return eventsPerSecond(batches, (batch) => storeEvents(deps, batch));
  };
  await copyBatches(WARM_UP_BATCHES);
  await storeBatches(WARM_UP_BATCHES);
  const figures = await interleave(effort.rounds, {
    baseline: () => copyBatches(BATCHES_A_ROUND),
    stored: () => storeBatches(BATCHES_A_ROUND),
  });
  findings.ratios.G5 = ratioOf(figures.stored, figures.baseline, figures.isNoisy);
  findings.absolute['raw COPY of 1 000'] = perSecond(median(figures.baseline));
  findings.absolute['storage function, batches of 1 000'] = perSecond(median(figures.stored));
  findings.notes.push('raw COPY: one connection over TCP without delay, a commit a batch, the same indexes and rows');
  await finisher.flush();
  await copy.close();
  await runtime.close();
}

/** The batches are ready before the clock runs. */
async function eventsPerSecond<Batch>(batches: Batch[], send: (batch: Batch) => Promise<unknown>): Promise<number> {
  const started = performance.now();
  for (const batch of batches) await send(batch);
  return ((batches.length * BATCH) / (performance.now() - started)) * 1000;
}
