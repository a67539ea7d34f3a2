import { go, to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { money } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { Id } from '../../parts/copy.tsx';
import { type Offer, Offers } from '../../parts/offers.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { Shown } from '../../parts/states.tsx';
import { t } from '../../texts/en.ts';
import { Calculator } from './calculator.tsx';
import { ActiveCount } from './impact.tsx';
import { priceWords } from './price-words.ts';
import type { Charge, Metric, Plan } from './records.ts';

const METRICS_PATH = '/billable_metrics?per_page=100';

/** A plan with its prices in words, and a calculator beside each. */
export function PlanPage({ code }: { code: string }) {
  const reading = useRead<{ plan: Plan }>(`/plans/${encodeURIComponent(code)}`);
  const metrics = useRead<{ billable_metrics: Metric[] }>(can('billable_metric') ? METRICS_PATH : null);
  const nameOf = (metric: string) =>
    metrics.data?.billable_metrics.find((each) => each.code === metric)?.name ?? metric;
  return (
    <Shown of={reading} rows={8}>
      {({ plan }) => (
        <Page
          title={plan.name}
          back={{ href: to('plans'), text: t.plans.title }}
          under={<Id of={plan.code} />}
          actions={
            can('plan', 'write') && (
              <>
                <a class="button" href={to('plans', 'new', undefined, { from: plan.code })}>
                  {t.plans.duplicate}
                </a>
                <a class="button" href={to('plans', plan.code, 'edit')}>
                  {t.plans.edit}
                </a>
                <Offers of={[deletesPlan(plan)]} />
              </>
            )
          }
        >
          <div class="card padded">
            <Facts
              of={[
                [t.plans.fee, `${money(plan.amount_cents, plan.amount_currency)} ${plan.interval}`],
                [t.plans.billed, plan.pay_in_advance ? t.plans.billedAtBeginning : t.plans.billedAtEnd],
                [t.plans.trial, plan.trial_period ? `${plan.trial_period} days` : 'none'],
                [t.plans.activeSubscriptions, <ActiveCount code={plan.code} />],
                [t.plans.description, plan.description],
              ]}
            />
          </div>
          {plan.charges.map((charge) => (
            <Section
              key={charge.svc_id}
              title={charge.invoice_display_name || nameOf(charge.billable_metric_code)}
              more={<Badge of={charge.charge_model} />}
            >
              <ChargePrices charge={charge} currency={plan.amount_currency} />
            </Section>
          ))}
          {plan.charges.length === 0 && <p class="soft">{t.plans.noCharges}</p>}
        </Page>
      )}
    </Shown>
  );
}

function ChargePrices({ charge, currency }: { charge: Charge; currency: string }) {
  const words = priceWords(charge.charge_model, charge.properties, currency);
  return (
    <div class="card padded">
      <ul class="prose">
        {words.map((text) => (
          <li key={text}>{text}</li>
        ))}
        {charge.filters.map(({ values, properties }) => {
          const which = Object.entries(values)
            .map(([key, each]) => `${key} ${each.join(' or ')}`)
            .join(', ');
          return (
            <li key={which}>
              {which}: {priceWords(charge.charge_model, properties, currency).join('; ')}
            </li>
          );
        })}
        {charge.min_amount_cents > 0 && (
          <li>
            {t.plans.commitment}
            {money(charge.min_amount_cents, currency)}
            {t.plans.eachPeriod}
          </li>
        )}
        {charge.pay_in_advance && <li>{t.plans.billedByEvent}</li>}
      </ul>
      <Calculator
        id={charge.svc_id ?? ''}
        model={charge.charge_model}
        properties={charge.properties}
        currency={currency}
      />
    </div>
  );
}

const deletesPlan = (plan: Plan): Offer => ({
  text: t.plans.delete,
  title: t.plans.deleteTitle,
  submit: t.plans.deleteForGood,
  needs: 'plan',
  typed: plan.code,
  about: t.plans.deleteAbout,
  onDone: () => go(to('plans')),
  command: () => ({ method: 'DELETE', path: `/plans/${encodeURIComponent(plan.code)}` }),
});
