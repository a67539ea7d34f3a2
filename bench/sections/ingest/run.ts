import type { EventSource } from '../../data/event-source.ts';
import { type BenchOrganization, createBenchOrganization } from '../../data/organization.ts';
import { copyEventsTable, preloadEvents } from '../../data/preload.ts';
import { sellCallsBefore } from '../../data/sell-calls.ts';
import type { Environment } from '../../harness/environment.ts';
import type { Effort } from '../../harness/options.ts';

const PRELOADED_HOURS = 48;

/** What the parts of the section share. */
export interface IngestRun {
  environment: Environment;
  effort: Effort;
  organization: BenchOrganization;
  /** Table of the raw COPY: same rows and indexes as `events`. */
  copyTable: string;
  source: (label: string) => EventSource;
  /** Events that must be stored: those whose request was answered 200, and those that were handed to storage. */
  mustBeStored: number;
  /** Transaction ids of requests that were cut off: stored or not, the sender does not know. */
  unknown: string[];
}

/** An organization with a plan, subscriptions and a table full of events whose rollups are live. */
export async function prepareRun(environment: Environment, effort: Effort, at: number): Promise<IngestRun> {
  const organization = await createBenchOrganization(environment, 'Bench ingest');
  await preloadEvents(environment, [
    { organizationId: organization.id, rows: effort.preloadedRows, hours: PRELOADED_HOURS, label: 'preload' },
  ]);
  await copyEventsTable(environment, 'copied_events');

  await sellCallsBefore(environment, organization, at);
  return {
    environment,
    effort,
    organization,
    copyTable: 'copied_events',
    source: (label) => ({ label, at }),
    mustBeStored: effort.preloadedRows,
    unknown: [],
  };
}
