import { useSignal } from '@preact/signals';
import { ApiError, read } from '../../frame/api.ts';
import { searchOf } from '../../frame/route.ts';
import { decimal, money } from '../../parts/amounts.ts';
import { FieldInput } from '../../parts/field.tsx';
import { subscriptions } from '../../parts/sources.ts';
import { Failure } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { t } from '../../texts/en.ts';
import { calculate } from './calculate.ts';
import type { Draft } from './draft.ts';
import type { Metric } from './records.ts';

const words = t.plans.editor;

interface ChargeUsage {
  units: string;
  events_count: number;
  amount_cents: number;
  billable_metric: { svc_id: string; name: string };
  charge: { svc_id: string };
  filters: { units: string }[];
  grouped_usage: { units: string; events_count: number }[];
}

interface Tried {
  key: string;
  name: string;
  units: string;
  today: number;
  /** Undefined where the charge has filters, or its prices are not right. */
  edited: number | undefined;
}

/** The current usage of a subscription at the prices of the editor, beside what it costs today. */
export function TryOn({ draft, metrics }: { draft: Draft; metrics: readonly Metric[] }) {
  const subscription = useSignal('');
  const error = useSignal<ApiError | undefined>(undefined);
  const usage = useSignal<{ currency: string; charges: ChargeUsage[] } | undefined>(undefined);
  const ask = async (event: Event) => {
    event.preventDefault();
    error.value = undefined;
    try {
      const id = encodeURIComponent(subscription.value.trim());
      const found = await read<{ subscription: { external_customer_id: string } }>(`/subscriptions/${id}`);
      const query = searchOf({ external_subscription_id: subscription.value.trim(), apply_taxes: false });
      const { customer_usage } = await read<{
        customer_usage: { currency: string; charges_usage: ChargeUsage[] };
      }>(`/customers/${encodeURIComponent(found.subscription.external_customer_id)}/current_usage${query}`);
      usage.value = { currency: customer_usage.currency, charges: customer_usage.charges_usage };
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught;
      usage.value = undefined;
      error.value = caught;
    }
  };
  const rows = usage.value ? triedOf(draft, metrics, usage.value) : [];
  return (
    <form class="card padded" onSubmit={(event) => void ask(event)}>
      <p class="soft">{words.tryAbout}</p>
      <FieldInput
        field={{ name: 'try-on', label: words.trySubscription, from: subscriptions }}
        value={subscription.value}
        onInput={(text) => {
          subscription.value = text;
        }}
      />
      <p class="bar">
        <button type="submit">{words.try}</button>
      </p>
      {error.value && <Failure error={error.value} />}
      {usage.value && (
        <Table
          label={words.tried}
          rows={rows}
          keyOf={({ key }) => key}
          columns={[
            { head: words.charge, cell: ({ name }) => name },
            { head: words.units, cell: ({ units }) => decimal(units), isNumber: true },
            { head: words.today, cell: ({ today }) => money(today, usage.value!.currency), isNumber: true },
            {
              head: words.edited,
              cell: ({ edited }) => (edited === undefined ? words.notTried : money(edited, usage.value!.currency)),
              isNumber: true,
            },
          ]}
        />
      )}
    </form>
  );
}

function triedOf(
  draft: Draft,
  metrics: readonly Metric[],
  { currency, charges }: { currency: string; charges: readonly ChargeUsage[] },
): Tried[] {
  return draft.charges.map(({ key, metricId, model, properties }) => {
    const own = charges.find(({ charge }) => charge.svc_id === key);
    const used = own ?? charges.find(({ billable_metric }) => billable_metric.svc_id === metricId);
    const parts = used?.grouped_usage?.length ? used.grouped_usage : used ? [used] : [];
    const priced = parts.map(({ units, events_count }) =>
      calculate({ model, properties, currency }, units, events_count),
    );
    const hasFilters = (used?.filters?.length ?? 0) > 0;
    return {
      key,
      name: metrics.find(({ svc_id }) => svc_id === metricId)?.name ?? metricId,
      units: used?.units ?? '0',
      today: own?.amount_cents ?? 0,
      edited:
        hasFilters || priced.some((each) => each === undefined)
          ? undefined
          : priced.reduce((total, each) => total + each!.amountCents, 0),
    };
  });
}
