import { route } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { count } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { Figure } from '../../parts/figure.tsx';
import { Section } from '../../parts/page.tsx';
import { Pager, Table } from '../../parts/table.tsx';
import { t } from '../../texts/en.ts';

const words = t.operations.health;

interface Health {
  version: string;
  started_at: string;
  postgres: { version: string; size_bytes: number; connections: number };
  redis: { version: string | null; used_memory_bytes: number; policy: string | null };
  pools: { name: string; processes: number }[];
  late_jobs: { name: string; reason: string; due_at: string; error: string | null }[];
  organizations: { svc_id: string; name: string; sandbox: boolean; events_last_hour: number; open_findings: number }[];
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];
const STEP = 1024;

/** Bytes in the unit in which they are at least 1. */
function bytes(number: number): string {
  let [rest, unit] = [number, 0];
  for (; rest >= STEP && unit < UNITS.length - 1; unit += 1) rest /= STEP;
  return words.bytes(count(Math.round(rest)), UNITS[unit]!);
}

/** Stores, processes, late jobs, and each organization in two figures. */
export function DeploymentHealth() {
  const page = Number(route.value.query.get('page') ?? 1);
  const path = `/operations/health?page=${page}`;
  const { data } = useRead<{ health: Health; meta: { current_page: number; next_page: number | null } }>(path, {
    everySeconds: 5,
    asOperator: true,
  });
  if (!data) return null;
  const { health, meta } = data;
  const figure = (name: keyof typeof words.formulas, value: string, note: string, tone?: 'bad') => (
    <Figure
      label={words[name]}
      value={value}
      note={note}
      tone={tone}
      origin={{ path, formula: words.formulas[name] }}
    />
  );
  return (
    <>
      <div class="figures">
        {figure('version', health.version, words.since(health.started_at.slice(0, 16).replace('T', ' ')))}
        {figure(
          'postgres',
          bytes(health.postgres.size_bytes),
          words.postgresNote(count(health.postgres.connections), health.postgres.version.split(' ')[0]!),
        )}
        {figure(
          'redis',
          bytes(health.redis.used_memory_bytes),
          words.redisNote(health.redis.version ?? '–', health.redis.policy ?? '–'),
        )}
        {figure(
          'processes',
          count(health.pools.reduce((sum, { processes }) => sum + processes, 0)),
          health.pools.map((pool) => words.processesOf(pool.name, count(pool.processes))).join(', '),
        )}
        {figure(
          'late',
          count(health.late_jobs.length),
          health.late_jobs.length === 0 ? words.noneLate : '',
          health.late_jobs.length > 0 ? 'bad' : undefined,
        )}
      </div>
      {health.late_jobs.length > 0 && (
        <Section title={words.late}>
          <ul class="list card">
            {health.late_jobs.map(({ name, reason, error }) => (
              <li key={name}>
                <Badge of="late" tone="bad" /> <b>{name}</b>
                <span class="what">
                  {words.reasons[reason] ?? reason}
                  {error && <span class="soft"> · {error}</span>}
                </span>
              </li>
            ))}
          </ul>
        </Section>
      )}
      {health.organizations.length > 0 && (
        <Section title={words.organizations}>
          <Table
            label={words.organizations}
            rows={health.organizations}
            keyOf={({ svc_id }) => svc_id}
            columns={[
              {
                head: words.organization,
                cell: ({ name, sandbox }) => (
                  <>
                    {name}{' '}
                    {sandbox && (
                      <Badge of="wait" tone="wait">
                        {t.frame.sandbox}
                      </Badge>
                    )}
                  </>
                ),
              },
              { head: words.eventsLastHour, cell: ({ events_last_hour: events }) => count(events), isNumber: true },
              {
                head: words.openFindings,
                cell: ({ open_findings: findings }) => (
                  <span class={findings > 0 ? 'down' : ''}>{count(findings)}</span>
                ),
                isNumber: true,
              },
            ]}
          />
          <Pager
            meta={{
              ...meta,
              prev_page: meta.current_page > 1 ? meta.current_page - 1 : null,
              total_pages: null,
              total_count: null,
            }}
          />
        </Section>
      )}
    </>
  );
}
