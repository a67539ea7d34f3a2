import { useSignal } from '@preact/signals';
import { route, searchOf } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { agentWords } from '../../parts/agent.ts';
import { Badge } from '../../parts/badge.tsx';
import { CurlLine } from '../../parts/curl-line.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Empty, Shown } from '../../parts/states.tsx';
import { Choices, type PageMeta, Pager, Table } from '../../parts/table.tsx';
import { When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';

interface ApiRow {
  request_id: string;
  client: string | null;
  http_method: string;
  http_status: number;
  request_path: string;
  request_body: string | null;
  request_response: string | null;
  logged_at: string;
}

/** Writes as they came in, with what was answered. */
export function ApiLog() {
  const { query } = route.value;
  const opened = useSignal<ApiRow | undefined>(undefined);
  const result = query.get('result') ?? '';
  const list = useRead<{ api_logs: ApiRow[]; meta: PageMeta }>(
    `/api_logs${searchOf({ per_page: 25, page: query.get('page') ?? 1, ...(result === '' ? {} : { http_statuses: [result] }) })}`,
  );
  return (
    <>
      <div class="bar">
        <Choices
          label={t.logs.whichRequests}
          name="result"
          options={[
            ['', t.logs.all],
            ['succeeded', t.logs.succeeded],
            ['failed', t.logs.refused],
          ]}
        />
      </div>
      <Shown of={list} rows={8}>
        {({ api_logs, meta }) =>
          api_logs.length === 0 ? (
            <Empty title={result === '' ? t.logs.noRequests : t.logs.noneFiltered}>
              <p class="soft">{t.logs.noRequestsHint}</p>
            </Empty>
          ) : (
            <>
              <Table
                label={t.logs.apiRequests}
                rows={api_logs}
                keyOf={({ request_id, logged_at }) => request_id + logged_at}
                columns={[
                  {
                    head: t.logs.requestHead,
                    cell: (row) => (
                      <button
                        type="button"
                        class="quiet small"
                        onClick={() => {
                          opened.value = row;
                        }}
                      >
                        {row.http_method.toUpperCase()} {row.request_path.replace('/api/v1', '')}
                      </button>
                    ),
                  },
                  {
                    head: t.logs.answer,
                    cell: ({ http_status: status }) => (
                      <Badge of={String(status)} tone={status < 400 ? 'good' : 'bad'} />
                    ),
                  },
                  { head: t.logs.from, cell: ({ client }) => agentWords(client), isExtra: true },
                  { head: t.logs.when, cell: ({ logged_at }) => <When at={logged_at} /> },
                ]}
              />
              <Pager meta={meta} />
            </>
          )
        }
      </Shown>
      {opened.value && (
        <Dialog
          title={`${opened.value.http_method.toUpperCase()} ${opened.value.request_path.replace('/api/v1', '')}`}
          onClose={() => {
            opened.value = undefined;
          }}
        >
          <p class="soft">
            {t.logs.requestLine}
            <code>{opened.value.request_id}</code>
            {t.logs.answeredLine}
            {opened.value.http_status}
          </p>
          <CurlLine
            request={{
              method: opened.value.http_method.toUpperCase(),
              path: opened.value.request_path.replace('/api/v1', ''),
              ...(opened.value.request_body ? { body: parsed(opened.value.request_body) } : {}),
            }}
          />
          <h3>{t.logs.answer}</h3>
          <pre class="json">{pretty(opened.value.request_response)}</pre>
        </Dialog>
      )}
    </>
  );
}

/** A body that was cut is no JSON any more. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const pretty = (text: string | null): string => {
  if (text === null) return t.logs.noBody;
  const value = parsed(text);
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
};
