import { useRead } from '../../frame/use-read.ts';
import { count } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { Shown } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { Ago, When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { DeploymentHealth } from './health.tsx';

interface Job {
  name: string;
  clock: string;
  schedule: string;
  next_tick_at: string;
  last_run: { status: string; started_at: string; duration_ms: number | null; error: string | null } | null;
}

interface Queue {
  name: string;
  depth: number;
  active: number;
  delayed: number;
  failed: number;
  oldest_waiting_at: string | null;
}

/** A queue whose oldest job waits longer than this stands still. */
const LATE_MS = 60_000;

const isLate = ({ oldest_waiting_at: at }: Queue): boolean =>
  at !== null && Date.now() - new Date(at).getTime() > LATE_MS;

/** Is billing well? For who runs the service; no record of any organization is here. */
export default function Operations() {
  const reading = useRead<{ jobs: Job[]; queues: Queue[] }>('/operations/jobs', { everySeconds: 5, asOperator: true });
  return (
    <Page title={t.operations.title} under={t.operations.under}>
      <DeploymentHealth />
      <Shown of={reading} rows={10}>
        {({ jobs, queues }) => (
          <>
            <Section title={t.operations.queues} more={<a href="/queues">{t.operations.queueBoard}</a>}>
              <Table
                label={t.operations.queues}
                rows={[...queues].sort((a, b) => Number(isLate(b)) - Number(isLate(a)))}
                keyOf={({ name }) => name}
                columns={[
                  { head: t.operations.queue, cell: ({ name }) => name },
                  {
                    head: t.operations.state,
                    cell: (queue) =>
                      isLate(queue) ? (
                        <Badge of="late" tone="bad" />
                      ) : queue.depth > 0 ? (
                        <Badge of="working" tone="wait" />
                      ) : (
                        <Badge of="idle" tone="good" />
                      ),
                  },
                  { head: t.operations.waiting, cell: ({ depth }) => count(depth), isNumber: true },
                  { head: t.operations.running, cell: ({ active }) => count(active), isNumber: true },
                  { head: t.operations.later, cell: ({ delayed }) => count(delayed), isNumber: true, isExtra: true },
                  { head: t.operations.failed, cell: ({ failed }) => count(failed), isNumber: true, isExtra: true },
                  { head: t.operations.oldest, cell: ({ oldest_waiting_at: at }) => <Ago at={at} />, isExtra: true },
                ]}
              />
            </Section>
            <Section title={t.operations.periodicJobs}>
              <Table
                label={t.operations.periodicJobs}
                rows={jobs}
                keyOf={({ name }) => name}
                columns={[
                  { head: t.operations.job, cell: ({ name }) => name },
                  {
                    head: t.operations.lastRun,
                    cell: ({ last_run: run }) =>
                      run ? (
                        <>
                          <Badge of={run.status} tone={run.error ? 'bad' : run.status === 'done' ? 'good' : 'wait'} />
                          {run.error && <span class="second">{run.error}</span>}
                        </>
                      ) : (
                        <span class="soft">{t.operations.neverRun}</span>
                      ),
                  },
                  { head: t.operations.started, cell: ({ last_run }) => <Ago at={last_run?.started_at} /> },
                  {
                    head: t.operations.took,
                    cell: ({ last_run }) => (last_run?.duration_ms == null ? '–' : `${count(last_run.duration_ms)} ms`),
                    isNumber: true,
                    isExtra: true,
                  },
                  { head: t.operations.runs, cell: ({ schedule }) => schedule, isExtra: true },
                  { head: t.operations.next, cell: ({ next_tick_at }) => <When at={next_tick_at} />, isExtra: true },
                ]}
              />
            </Section>
          </>
        )}
      </Shown>
    </Page>
  );
}
