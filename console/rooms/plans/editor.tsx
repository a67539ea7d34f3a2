import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isCurrency } from '../../../src/engine/money/currency.ts';
import { go, to } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { count } from '../../parts/amounts.ts';
import { amountText, centsOf, exponentIn } from '../../parts/cents.ts';
import { FieldInput } from '../../parts/field.tsx';
import { Action, FormDialog } from '../../parts/form.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { Empty, Loading, Shown } from '../../parts/states.tsx';
import { ChargeEditor } from './charge-editor.tsx';
import { bodyOf, changesOf, type Draft, draftOf, emptyDraft, newCharge } from './draft.ts';
import type { Metric, Plan } from './records.ts';

const INTERVALS = [
  ['weekly', 'Week'],
  ['monthly', 'Month'],
  ['quarterly', 'Quarter'],
  ['semiannual', 'Half a year'],
  ['yearly', 'Year'],
] as const;

/** Makes a plan, from nothing or `from` another, or changes the one with `code`. */
export function PlanEditor({ code, from }: { code?: string; from?: string | undefined }) {
  const source = code ?? from;
  const plan = useRead<{ plan: Plan }>(source === undefined ? null : `/plans/${encodeURIComponent(source)}`);
  const metrics = useRead<{ billable_metrics: Metric[] }>('/billable_metrics?per_page=100');
  const organization = useRead<{ organization: { default_currency: string } }>('/organizations');
  if (source !== undefined && plan.data === undefined) return <Shown of={plan}>{() => null}</Shown>;
  if (!metrics.data || (source === undefined && !organization.data && !organization.error)) return <Loading rows={8} />;
  const stored = plan.data?.plan;
  const start = stored
    ? draftOf(stored, (cents) => amountText(cents, exponentIn(stored.amount_currency)), code === undefined)
    : emptyDraft(organization.data?.organization.default_currency ?? 'USD');
  return (
    <Editor
      start={start}
      metrics={metrics.data.billable_metrics}
      stored={code === undefined ? undefined : stored}
      key={source ?? 'new'}
    />
  );
}

function Editor({ start, metrics, stored }: { start: Draft; metrics: readonly Metric[]; stored: Plan | undefined }) {
  const before = useSignal(start);
  const draft = useSignal(start);
  const isSaved = useSignal(false);
  const set = (changes: Partial<Draft>) => {
    draft.value = { ...draft.value, ...changes };
  };
  const { name, code, interval, amount, currency, payInAdvance, charges } = draft.value;
  const exponent = exponentIn(currency);
  const metricName = (id: string) => metrics.find(({ svc_id }) => svc_id === id)?.name ?? 'a metric';
  const changes = changesOf(before.value, draft.value, metricName);
  useEffect(() => {
    // Nothing is kept until it is saved, so leaving asks.
    const ask = (event: BeforeUnloadEvent) => {
      if (draft.peek() !== before.peek() && !isSaved.peek()) event.preventDefault();
    };
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, []);
  return (
    <Page
      title={stored ? `Edit ${stored.name}` : 'New plan'}
      back={stored ? { href: to('plans', stored.code), text: stored.name } : { href: to('plans'), text: 'Plans' }}
      actions={
        <Action text={stored ? 'Save …' : 'Create …'} isMain>
          {(close) => (
            <FormDialog
              title={stored ? 'Save the plan' : 'Create the plan'}
              submit={stored ? 'Save' : 'Create plan'}
              onClose={close}
              onDone={() => {
                isSaved.value = true;
                go(to('plans', draft.value.code));
              }}
              fields={
                stored && stored.active_subscriptions_count > 0
                  ? [
                      {
                        name: 'cascade',
                        label: 'Also change overrides of subscriptions where they follow the plan',
                        type: 'checkbox',
                        value: 'false',
                      },
                    ]
                  : []
              }
              command={({ cascade }) => ({
                method: stored ? 'PUT' : 'POST',
                path: stored ? `/plans/${encodeURIComponent(stored.code)}` : '/plans',
                body: {
                  plan: { ...bodyOf(draft.value, exponent), ...(cascade === 'true' ? { cascade_updates: true } : {}) },
                },
              })}
            >
              {stored && (
                <>
                  <ul class="prose">
                    {changes.map((text) => (
                      <li key={text}>{text}</li>
                    ))}
                    {changes.length === 0 && <li>Nothing has changed.</li>}
                  </ul>
                  <p class="soft">
                    {count(stored.active_subscriptions_count)} active subscriptions use it. Another fee holds from their
                    next period.
                  </p>
                </>
              )}
            </FormDialog>
          )}
        </Action>
      }
    >
      <div class="card padded basics">
        <FieldInput field={{ name: 'name', label: 'Name' }} value={name} onInput={(text) => set({ name: text })} />
        <FieldInput field={{ name: 'code', label: 'Code' }} value={code} onInput={(text) => set({ code: text })} />
        <FieldInput
          field={{ name: 'interval', label: 'Period', type: 'select', options: INTERVALS }}
          value={interval}
          onInput={(text) => set({ interval: text })}
        />
        <FieldInput
          field={{ name: 'amount', label: 'Fee of a period', type: 'number' }}
          value={amount}
          fault={centsOf(amount, exponent) === undefined ? `an amount with at most ${exponent} decimals` : undefined}
          onInput={(text) => set({ amount: text })}
        />
        <FieldInput
          field={{ name: 'currency', label: 'Currency' }}
          value={currency}
          fault={isCurrency(currency) ? undefined : 'three letters, such as EUR'}
          onInput={(text) => set({ currency: text.toUpperCase() })}
        />
        <FieldInput
          field={{ name: 'advance', label: 'Billed when the period begins', type: 'checkbox' }}
          value={String(payInAdvance)}
          onInput={(text) => set({ payInAdvance: text === 'true' })}
        />
      </div>
      <Section title="Usage charges">
        {charges.map((charge) => (
          <ChargeEditor
            key={charge.key}
            charge={charge}
            metrics={metrics}
            currency={currency}
            onChange={(changed) => set({ charges: charges.map((each) => (each.key === charge.key ? changed : each)) })}
            onRemove={() => set({ charges: charges.filter(({ key }) => key !== charge.key) })}
          />
        ))}
        {charges.length === 0 && (
          <Empty title={metrics.length === 0 ? 'There is no metric to charge for' : 'No usage is charged yet'}>
            {metrics.length === 0 && <a href={to('metrics')}>Make a metric first</a>}
          </Empty>
        )}
        {metrics[0] && (
          <p class="bar">
            <button type="button" onClick={() => set({ charges: [...charges, newCharge(metrics[0]!.svc_id)] })}>
              Add a charge
            </button>
          </p>
        )}
      </Section>
    </Page>
  );
}
