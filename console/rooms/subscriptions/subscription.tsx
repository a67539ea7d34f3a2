import { searchOf, to } from '../../frame/route.ts';
import { can, organization } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { count, decimal, money } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { Id } from '../../parts/copy.tsx';
import { useCustomerNames } from '../../parts/customer-names.tsx';
import { Figure } from '../../parts/figure.tsx';
import { Action } from '../../parts/form.tsx';
import { Offers } from '../../parts/offers.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import type { Subscription } from '../../parts/records.ts';
import { Empty, Shown } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { day } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { SendEvent } from '../events/send-event.tsx';
import { SubscribeForm } from './subscribe-form.tsx';
import { terminates } from './terminate.ts';
import { seriesPath, UsageChart, type UsageSeries } from './usage-series.tsx';

interface ChargeUsage {
  units: string;
  projected_units?: string;
  amount_cents: number;
  projected_amount_cents?: number;
  events_count: number;
  billable_metric: { name: string; code: string };
  charge: { svc_id: string; code: string; charge_model: string; invoice_display_name?: string | null };
}

interface Usage {
  from_datetime: string;
  to_datetime: string;
  currency: string;
  amount_cents: number;
  total_amount_cents: number;
  projected_amount_cents?: number;
  charges_usage: ChargeUsage[];
}

/** What will the next bill be? */
export function SubscriptionPage({ externalId }: { externalId: string }) {
  const id = encodeURIComponent(externalId);
  const reading = useRead<{ subscription: Subscription }>(`/subscriptions/${id}`);
  const names = useCustomerNames([reading.data?.subscription.external_customer_id]);
  return (
    <Shown of={reading} rows={8}>
      {({ subscription }) => (
        <Page
          title={subscription.name ?? subscription.external_id}
          badge={<Badge of={subscription.status} />}
          back={{
            href: to('customers', subscription.external_customer_id),
            text: names.get(subscription.external_customer_id) ?? subscription.external_customer_id,
          }}
          under={
            <>
              {t.subscriptions.planLine}
              <a href={to('plans', subscription.plan_code)}>{subscription.plan_code}</a>
              {t.subscriptions.sinceLine} {day(subscription.started_at ?? subscription.subscription_at)}
              {subscription.next_plan_code &&
                t.subscriptions.nextPlanLine(subscription.next_plan_code, day(subscription.downgrade_plan_date))}
            </>
          }
          actions={
            <>
              {organization.value?.sandbox && can('event', 'write') && subscription.status === 'active' && (
                <Action text={t.subscriptions.sendTestEvent}>
                  {(close) => <SendEvent subscriptionId={externalId} onClose={close} />}
                </Action>
              )}
              {can('subscription', 'write') && subscription.status === 'active' && (
                <Action text={t.subscriptions.changePlan}>
                  {(close) => (
                    <SubscribeForm
                      customerId={subscription.external_customer_id}
                      subscriptionId={externalId}
                      onClose={close}
                    />
                  )}
                </Action>
              )}
              <Offers of={[subscription.status === 'active' && terminates(subscription)]} />
            </>
          }
        >
          {subscription.status === 'active' && can('customer_usage') && <CurrentUsage subscription={subscription} />}
          <PastUsage subscription={subscription} />
          <Section title={t.subscriptions.facts}>
            <div class="card padded">
              <Facts
                of={[
                  [t.subscriptions.periodFee, money(subscription.plan_amount_cents, subscription.plan_amount_currency)],
                  [t.subscriptions.billing, subscription.billing_time],
                  [
                    t.subscriptions.currentPeriod,
                    `${day(subscription.current_billing_period_started_at)} – ${day(subscription.current_billing_period_ending_at)}`,
                  ],
                  [t.subscriptions.ends, day(subscription.terminated_at ?? subscription.ending_at)],
                  [t.subscriptions.previousPlan, subscription.previous_plan_code],
                  [t.subscriptions.id, <Id of={subscription.svc_id} />],
                ]}
              />
            </div>
          </Section>
        </Page>
      )}
    </Shown>
  );
}

function usagePath(kind: string, { external_customer_id, external_id }: Subscription, filters: object = {}): string {
  const query = searchOf({ external_subscription_id: external_id, ...filters });
  return `/customers/${encodeURIComponent(external_customer_id)}/${kind}${query}`;
}

function CurrentUsage({ subscription }: { subscription: Subscription }) {
  const path = usagePath('projected_usage', subscription);
  const reading = useRead<{ customer_projected_usage: Usage }>(path, { everySeconds: 5 });
  const { data } = useRead<{ usage_series: UsageSeries }>(seriesPath(subscription.external_id), { everySeconds: 30 });
  const band = data?.usage_series.projection;
  return (
    <Shown of={reading}>
      {({ customer_projected_usage: usage }) => {
        const fee = subscription.plan_amount_cents;
        const projected = usage.projected_amount_cents ?? usage.amount_cents;
        return (
          <>
            <div class="figures">
              <Figure
                label={t.subscriptions.usageSoFar}
                value={money(usage.amount_cents, usage.currency)}
                note={t.subscriptions.usageNote(day(usage.from_datetime))}
                origin={{ path, formula: t.subscriptions.usageFormula, answer: usage }}
              />
              <Figure
                label={t.subscriptions.projectedUsage}
                value={money(projected, usage.currency)}
                note={
                  band && band.low_cents !== null
                    ? t.subscriptions.series.band(
                        money(band.low_cents, usage.currency),
                        money(band.high_cents, usage.currency),
                      )
                    : t.subscriptions.projectedNote(day(usage.to_datetime))
                }
                origin={{
                  path,
                  formula: t.subscriptions.projectedFormula,
                }}
              />
              <Figure
                label={t.subscriptions.nextBill}
                value={money(projected + fee, usage.currency)}
                note={t.subscriptions.nextBillNote(money(fee, usage.currency))}
                origin={{ path, formula: t.subscriptions.nextBillFormula }}
              />
            </div>
            <Section title={t.subscriptions.usageSection}>
              <UsageChart externalId={subscription.external_id} />
              {usage.charges_usage.length === 0 ? (
                <Empty title={t.subscriptions.noCharges} />
              ) : (
                <Table
                  label={t.subscriptions.usageTable}
                  rows={usage.charges_usage}
                  keyOf={({ charge }) => charge.svc_id}
                  columns={[
                    {
                      head: t.subscriptions.charge,
                      cell: ({ charge, billable_metric: metric }) => (
                        <>
                          {charge.invoice_display_name || metric.name}
                          <span class="second">
                            {metric.code} · {charge.charge_model.replaceAll('_', ' ')}
                          </span>
                        </>
                      ),
                    },
                    {
                      head: t.subscriptions.events,
                      cell: (row) => count(row.events_count),
                      isNumber: true,
                      isExtra: true,
                    },
                    { head: t.subscriptions.units, cell: (row) => decimal(row.units), isNumber: true },
                    {
                      head: t.subscriptions.projectedUnits,
                      cell: (row) => decimal(row.projected_units),
                      isNumber: true,
                      isExtra: true,
                    },
                    {
                      head: t.subscriptions.amount,
                      cell: (row) => money(row.amount_cents, usage.currency),
                      isNumber: true,
                    },
                    {
                      head: t.subscriptions.projected,
                      cell: (row) => money(row.projected_amount_cents, usage.currency),
                      isNumber: true,
                      isExtra: true,
                    },
                  ]}
                />
              )}
            </Section>
          </>
        );
      }}
    </Shown>
  );
}

function PastUsage({ subscription }: { subscription: Subscription }) {
  const path = usagePath('past_usage', subscription, { periods_count: 6 });
  const reading = useRead<{ usage_periods: (Usage & { svc_invoice_id: string | null })[] }>(
    can('customer_usage') ? path : null,
  );
  if (!reading.data || reading.data.usage_periods.length === 0) return null;
  return (
    <Section title={t.subscriptions.pastPeriods}>
      <Table
        label={t.subscriptions.pastPeriods}
        rows={reading.data.usage_periods}
        keyOf={({ from_datetime }) => from_datetime}
        href={({ svc_invoice_id }) => (svc_invoice_id ? to('invoices', svc_invoice_id) : undefined)}
        columns={[
          { head: t.subscriptions.period, cell: (each) => `${day(each.from_datetime)} – ${day(each.to_datetime)}` },
          {
            head: t.subscriptions.units,
            cell: (each) =>
              each.charges_usage.map((charge) => `${charge.billable_metric.code} ${decimal(charge.units)}`).join(' · '),
            isExtra: true,
          },
          { head: t.subscriptions.usage, cell: (each) => money(each.amount_cents, each.currency), isNumber: true },
        ]}
      />
    </Section>
  );
}
