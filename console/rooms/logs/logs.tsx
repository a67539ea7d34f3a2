import { route, searchOf } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { agentWords } from '../../parts/agent.ts';
import { Page } from '../../parts/page.tsx';
import type { Activity } from '../../parts/records.ts';
import { Empty, Shown } from '../../parts/states.tsx';
import { Choices, type PageMeta, Pager, Table } from '../../parts/table.tsx';
import { When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { ActivityList } from './activity-list.tsx';
import { ApiLog } from './api-log.tsx';

/** Who did it, and what did they send? */
export default function Logs() {
  const show = route.value.query.get('show') ?? '';
  return (
    <Page title={t.logs.title}>
      <div class="bar">
        <Choices
          label={t.logs.whichLog}
          name="show"
          options={[
            ['', t.logs.activities],
            ...(can('api_log') ? [['api', t.logs.apiRequests] as const] : []),
            ...(can('security_log') ? [['security', t.logs.security] as const] : []),
          ]}
        />
      </div>
      {show === '' && <Activities />}
      {show === 'api' && <ApiLog />}
      {show === 'security' && <Security />}
    </Page>
  );
}

function Activities() {
  const { query } = route.value;
  const list = useRead<{ activity_logs: Activity[]; meta: PageMeta }>(
    `/activity_logs${searchOf({ per_page: 50, page: query.get('page') ?? 1 })}`,
  );
  return (
    <Shown of={list} rows={10}>
      {({ activity_logs, meta }) => (
        <>
          <ActivityList activities={activity_logs} />
          <Pager meta={meta} />
        </>
      )}
    </Shown>
  );
}

interface SecurityRow {
  log_id: string;
  log_event: string;
  user_email: string | null;
  logged_at: string;
  resources: Record<string, unknown>;
  device_info: { user_agent?: string };
}

/** `user.new_device_logged_in` as words. */
const eventWords = (event: string): string => {
  const text = event.replace('.', ' ').replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
};

/** What an event of the security log is about, a line for each fact; the ids of the service are left to the API. */
function Concerns({ of: resources }: { of: Record<string, unknown> }) {
  return (
    <>
      {Object.entries(resources)
        .filter(([name, value]) => !/^svc_.*id$/.test(name) && value !== null)
        .map(([name, value]) => (
          <span key={name} class="second">
            {name.replaceAll('_', ' ')}: {valueWords(value)}
          </span>
        ))}
    </>
  );
}

/** A fact in words; of a change, what stands there now and what stood there before. */
function valueWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueWords).join(', ');
  if (typeof value !== 'object' || value === null) return value === null ? t.logs.nothing : String(value);
  const { added, deleted, ...others } = value as { added?: unknown; deleted?: unknown };
  if (Object.keys(others).length > 0 || (added === undefined && deleted === undefined)) return JSON.stringify(value);
  const now = valueWords(added ?? null);
  return deleted === null || deleted === undefined ? now : t.logs.changed(valueWords(deleted), now);
}

function Security() {
  const { query } = route.value;
  // The list needs an end; tomorrow includes everything, and is the same text all day.
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  const list = useRead<{ security_logs: SecurityRow[]; meta: PageMeta }>(
    `/security_logs${searchOf({ per_page: 25, page: query.get('page') ?? 1, to_date: tomorrow })}`,
  );
  return (
    <Shown of={list} rows={8}>
      {({ security_logs, meta }) =>
        security_logs.length === 0 ? (
          <Empty title={t.logs.noSecurity}>
            <p class="soft">{t.logs.noSecurityHint}</p>
          </Empty>
        ) : (
          <>
            <Table
              label={t.logs.securityLog}
              rows={security_logs}
              keyOf={({ log_id }) => log_id}
              columns={[
                { head: t.logs.what, cell: ({ log_event }) => eventWords(log_event) },
                { head: t.logs.when, cell: ({ logged_at }) => <When at={logged_at} /> },
                {
                  head: t.logs.concerns,
                  cell: ({ resources }) => <Concerns of={resources} />,
                  isExtra: true,
                },
                {
                  head: t.logs.userAgent,
                  cell: ({ device_info }) => agentWords(device_info.user_agent),
                  isExtra: true,
                },
              ]}
            />
            <Pager meta={meta} />
          </>
        )
      }
    </Shown>
  );
}
