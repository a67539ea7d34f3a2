import { route, searchOf, to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { Id } from '../../parts/copy.tsx';
import { Action, FormDialog } from '../../parts/form.tsx';
import { Facts, Page } from '../../parts/page.tsx';
import { Empty, Shown } from '../../parts/states.tsx';
import { type PageMeta, Pager, Table } from '../../parts/table.tsx';
import { t } from '../../texts/en.ts';

interface Metric {
  svc_id: string;
  name: string;
  code: string;
  description: string | null;
  aggregation_type: string;
  field_name: string | null;
  recurring: boolean;
  filters: { key: string; values: string[] }[];
}

const AGGREGATIONS = [
  ['count_agg', t.metrics.countAgg],
  ['sum_agg', t.metrics.sumAgg],
  ['max_agg', t.metrics.maxAgg],
  ['unique_count_agg', t.metrics.uniqueCountAgg],
  ['latest_agg', t.metrics.latestAgg],
  ['weighted_sum_agg', t.metrics.weightedSumAgg],
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
      title={t.metrics.title}
      under={t.metrics.under}
      actions={
        can('billable_metric', 'write') && (
          <Action text={t.metrics.newMetric} isMain>
            {(close) => <MetricForm onClose={close} />}
          </Action>
        )
      }
    >
      <Shown of={list}>
        {({ billable_metrics, meta }) =>
          billable_metrics.length === 0 ? (
            <Empty title={t.metrics.none}>
              <p class="soft">{t.metrics.noneHint}</p>
            </Empty>
          ) : (
            <>
              <Table
                label={t.metrics.title}
                rows={billable_metrics}
                keyOf={({ svc_id }) => svc_id}
                href={({ code }) => to('metrics', code)}
                columns={[
                  { head: t.metrics.name, cell: ({ name }) => name },
                  { head: t.metrics.code, cell: ({ code }) => <code>{code}</code> },
                  { head: t.metrics.aggregation, cell: countedBy },
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
        <Page title={metric.name} back={{ href: to('metrics'), text: t.metrics.title }} under={<Id of={metric.code} />}>
          <div class="card padded">
            <Facts
              of={[
                [t.metrics.aggregation, countedBy(metric)],
                [t.metrics.recurring, metric.recurring ? 'yes' : 'no'],
                [t.metrics.description, metric.description],
                ...metric.filters.map(({ key, values }) => [`Filter ${key}`, values.join(', ')] as const),
                [t.metrics.id, <Id of={metric.svc_id} />],
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
      title={t.metrics.newMetric}
      submit={t.metrics.createMetric}
      onClose={onClose}
      fields={[
        { name: 'name', label: t.metrics.name, isNeeded: true, placeholder: t.metrics.nameExample },
        {
          name: 'code',
          label: t.metrics.code,
          isNeeded: true,
          placeholder: t.metrics.codeExample,
          hint: t.metrics.codeHint,
        },
        {
          name: 'aggregation_type',
          label: t.metrics.aggregation,
          type: 'select',
          options: AGGREGATIONS,
          value: 'count_agg',
        },
        {
          name: 'field_name',
          label: t.metrics.property,
          placeholder: t.metrics.propertyExample,
          hint: t.metrics.propertyHint,
        },
        { name: 'recurring', label: t.metrics.recurringField, type: 'checkbox', value: 'false' },
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
