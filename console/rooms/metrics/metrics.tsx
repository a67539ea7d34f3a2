import { route, searchOf, to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { count } from '../../parts/amounts.ts';
import { Id } from '../../parts/copy.tsx';
import { Action, FormDialog } from '../../parts/form.tsx';
import { Facts, Page } from '../../parts/page.tsx';
import { Empty, Shown } from '../../parts/states.tsx';
import { type PageMeta, Pager, Table } from '../../parts/table.tsx';

interface Metric {
  svc_id: string;
  name: string;
  code: string;
  description: string | null;
  aggregation_type: string;
  field_name: string | null;
  recurring: boolean;
  filters: { key: string; values: string[] }[];
  plans_count: number;
  active_subscriptions_count: number;
}

const AGGREGATIONS = [
  ['count_agg', 'Number of events'],
  ['sum_agg', 'Sum of a property'],
  ['max_agg', 'Greatest value of a property'],
  ['unique_count_agg', 'Number of different values'],
  ['latest_agg', 'Latest value'],
  ['weighted_sum_agg', 'Sum weighted by time'],
] as const;

export default function Metrics() {
  const { id } = route.value;
  return id === undefined ? <List /> : <MetricPage key={id} code={id} />;
}

const countedBy = ({ aggregation_type: type, field_name: field }: Metric): string => {
  const words = AGGREGATIONS.find(([name]) => name === type)?.[1] ?? type;
  return field ? `${words}: ${field}` : words;
};

function List() {
  const list = useRead<{ billable_metrics: Metric[]; meta: PageMeta }>(
    `/billable_metrics${searchOf({ per_page: 25, page: route.value.query.get('page') ?? 1 })}`,
  );
  return (
    <Page
      title="Metrics"
      under="How events turn into units."
      actions={
        can('billable_metric', 'write') && (
          <Action text="New metric" isMain>
            {(close) => <MetricForm onClose={close} />}
          </Action>
        )
      }
    >
      <Shown of={list}>
        {({ billable_metrics, meta }) =>
          billable_metrics.length === 0 ? (
            <Empty title="No metrics yet">
              <p class="soft">For example: count the events called “calls”, or sum their property “tokens”.</p>
            </Empty>
          ) : (
            <>
              <Table
                label="Metrics"
                rows={billable_metrics}
                keyOf={({ svc_id }) => svc_id}
                href={({ code }) => to('metrics', code)}
                columns={[
                  { head: 'Name', cell: ({ name }) => name },
                  { head: 'Code', cell: ({ code }) => <code>{code}</code> },
                  { head: 'Units are', cell: countedBy },
                ]}
              />
              <Pager meta={meta} />
            </>
          )
        }
      </Shown>
    </Page>
  );
}

function MetricPage({ code }: { code: string }) {
  const reading = useRead<{ billable_metric: Metric }>(`/billable_metrics/${encodeURIComponent(code)}`);
  return (
    <Shown of={reading}>
      {({ billable_metric: metric }) => (
        <Page title={metric.name} back={{ href: to('metrics'), text: 'Metrics' }} under={<Id of={metric.code} />}>
          <div class="card padded">
            <Facts
              of={[
                ['Units are', countedBy(metric)],
                ['Carried over to the next period', metric.recurring ? 'yes' : 'no'],
                ['Description', metric.description],
                ['Plans', count(metric.plans_count)],
                ['Active subscriptions', count(metric.active_subscriptions_count)],
                ...metric.filters.map(({ key, values }) => [`Filter ${key}`, values.join(', ')] as const),
                ['Id', <Id of={metric.svc_id} />],
              ]}
            />
          </div>
        </Page>
      )}
    </Shown>
  );
}

function MetricForm({ onClose }: { onClose: () => void }) {
  return (
    <FormDialog
      title="New metric"
      submit="Create metric"
      onClose={onClose}
      fields={[
        { name: 'name', label: 'Name', isNeeded: true, placeholder: 'API calls' },
        { name: 'code', label: 'Code', isNeeded: true, placeholder: 'calls', hint: 'Events name the metric by it.' },
        { name: 'aggregation_type', label: 'Units are', type: 'select', options: AGGREGATIONS, value: 'count_agg' },
        { name: 'field_name', label: 'Property', placeholder: 'tokens', hint: 'Not needed to count events.' },
        { name: 'recurring', label: 'Units stay in the next period', type: 'checkbox', value: 'false' },
      ]}
      command={({ field_name, recurring, ...metric }) => ({
        method: 'POST',
        path: '/billable_metrics',
        body: {
          billable_metric: {
            ...metric,
            ...(field_name ? { field_name } : {}),
            ...(recurring === 'true' ? { recurring: true } : {}),
          },
        },
      })}
    />
  );
}
