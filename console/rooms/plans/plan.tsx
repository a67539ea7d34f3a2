import { go, to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { count, money } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { Id } from '../../parts/copy.tsx';
import { type Offer, Offers } from '../../parts/offers.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { Shown } from '../../parts/states.tsx';
import { Calculator } from './calculator.tsx';
import { priceWords } from './price-words.ts';
import type { Charge, Plan } from './records.ts';

/** A plan with its prices in words, and a calculator beside each. */
export function PlanPage({ code }: { code: string }) {
  const reading = useRead<{ plan: Plan }>(`/plans/${encodeURIComponent(code)}`);
  return (
    <Shown of={reading} rows={8}>
      {({ plan }) => (
        <Page
          title={plan.name}
          back={{ href: to('plans'), text: 'Plans' }}
          under={<Id of={plan.code} />}
          actions={
            can('plan', 'write') && (
              <>
                <a class="button" href={to('plans', 'new', undefined, { from: plan.code })}>
                  Duplicate
                </a>
                <a class="button" href={to('plans', plan.code, 'edit')}>
                  Edit
                </a>
                <Offers of={[deletesPlan(plan)]} />
              </>
            )
          }
        >
          <div class="card padded">
            <Facts
              of={[
                ['Fee', `${money(plan.amount_cents, plan.amount_currency)} ${plan.interval}`],
                ['Billed', plan.pay_in_advance ? 'when the period begins' : 'when the period ends'],
                ['Trial', plan.trial_period ? `${plan.trial_period} days` : 'none'],
                ['Active subscriptions', count(plan.active_subscriptions_count)],
                ['Description', plan.description],
              ]}
            />
          </div>
          {plan.charges.map((charge) => (
            <Section
              key={charge.svc_id}
              title={charge.invoice_display_name || charge.billable_metric_code}
              more={<Badge of={charge.charge_model} />}
            >
              <ChargePrices charge={charge} currency={plan.amount_currency} />
            </Section>
          ))}
          {plan.charges.length === 0 && <p class="soft">The plan has no usage charges.</p>}
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
        {charge.min_amount_cents > 0 && <li>At least {money(charge.min_amount_cents, currency)} a period</li>}
        {charge.pay_in_advance && <li>Billed with each event</li>}
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
  text: 'Delete',
  title: 'Delete the plan',
  submit: 'Delete for good',
  needs: 'plan',
  typed: plan.code,
  about: 'Its subscriptions end, and their usage is billed. This cannot be taken back.',
  onDone: () => go(to('plans')),
  command: () => ({ method: 'DELETE', path: `/plans/${encodeURIComponent(plan.code)}` }),
});
