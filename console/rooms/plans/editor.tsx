import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isCurrency } from '../../../src/engine/money/currency.ts';
import { ApiError, write } from '../../frame/api.ts';
import { go, guardLeaving, to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { readAllAgain, useRead } from '../../frame/use-read.ts';
import { amountText, centsOf, exponentIn } from '../../parts/cents.ts';
import { FieldInput } from '../../parts/field.tsx';
import { Action, FormDialog } from '../../parts/form.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { currencies } from '../../parts/places.ts';
import { taxes } from '../../parts/sources.ts';
import { Empty, Failure, Loading, Shown } from '../../parts/states.tsx';
import { t } from '../../texts/en.ts';
import { ChargeEditor } from './charge-editor.tsx';
import { bodyOf, changesOf, type Draft, draftOf, emptyDraft, entitlementsOf, newCharge } from './draft.ts';
import { EntitlementsEditor } from './entitlements-editor.tsx';
import { FixedChargesEditor } from './fixed-charges-editor.tsx';
import { ImpactWords } from './impact.tsx';
import type { Metric, Plan } from './records.ts';
import { ThresholdsEditor } from './thresholds-editor.tsx';
import { TryOn } from './try-on.tsx';

const words = t.plans.editor;

const INTERVALS = [
  ['weekly', t.plans.week],
  ['monthly', t.plans.month],
  ['quarterly', t.plans.quarter],
  ['semiannual', t.plans.halfYear],
  ['yearly', t.plans.year],
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
  const fault = useSignal<ApiError | undefined>(undefined);
  const set = (changes: Partial<Draft>) => {
    draft.value = { ...draft.value, ...changes };
  };
  const { name, code, interval, amount, currency, payInAdvance, charges } = draft.value;
  const exponent = exponentIn(currency);
  const metricName = (id: string) =>
    metrics.find(({ svc_id }) => svc_id === id)?.name ??
    draft.value.charges.find(({ metricId }) => metricId === id)?.metricCode ??
    t.plans.someMetric;
  const changes = changesOf(before.value, draft.value, metricName);
  const isDirty = () => draft.peek() !== before.peek() && !isSaved.peek();
  useEffect(() => {
    // Nothing is kept until it is saved, so leaving asks: the page, and the console.
    const ask = (event: BeforeUnloadEvent) => {
      if (isDirty()) event.preventDefault();
    };
    addEventListener('beforeunload', ask);
    const endGuard = guardLeaving(() => !isDirty() || confirm(t.plans.editor.leave));
    return () => {
      removeEventListener('beforeunload', ask);
      endGuard();
    };
  }, []);
  /** What the plan grants is a list of its own, which is set once the plan is there. */
  const finish = async () => {
    const entitlements = entitlementsOf(draft.peek());
    if (JSON.stringify(entitlements) !== JSON.stringify(stored ? entitlementsOf(before.peek()) : {})) {
      try {
        await write('POST', `/plans/${encodeURIComponent(draft.peek().code)}/entitlements`, { entitlements });
        await readAllAgain();
      } catch (caught) {
        if (!(caught instanceof ApiError)) throw caught;
        fault.value = caught;
        return;
      }
    }
    isSaved.value = true;
    go(to('plans', draft.peek().code));
  };
  return (
    <Page
      title={stored ? t.plans.editTitle(stored.name) : t.plans.newPlan}
      back={stored ? { href: to('plans', stored.code), text: stored.name } : { href: to('plans'), text: t.plans.title }}
      actions={
        <Action text={stored ? t.plans.saveMore : t.plans.createMore} isMain>
          {(close) => (
            <FormDialog
              title={stored ? t.plans.saveTitle : t.plans.createTitle}
              submit={stored ? t.plans.save : t.plans.createPlan}
              onClose={close}
              onDone={() => void finish()}
              fields={
                stored
                  ? [
                      {
                        name: 'cascade',
                        label: t.plans.cascade,
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
                    {changes.length === 0 && <li>{t.plans.nothingHasChanged}</li>}
                  </ul>
                  <h3>{t.plans.impact.title}</h3>
                  <ImpactWords code={stored.code} />
                </>
              )}
            </FormDialog>
          )}
        </Action>
      }
    >
      {fault.value && <Failure error={fault.value} again={() => void finish()} />}
      <div class="card padded basics">
        <FieldInput
          field={{ name: 'name', label: t.plans.name }}
          value={name}
          onInput={(text) => set({ name: text })}
        />
        <FieldInput
          field={{ name: 'code', label: t.plans.code }}
          value={code}
          onInput={(text) => set({ code: text })}
        />
        <FieldInput
          field={{ name: 'interval', label: t.plans.period, type: 'select', options: INTERVALS }}
          value={interval}
          onInput={(text) => set({ interval: text })}
        />
        <FieldInput
          field={{ name: 'amount', label: t.plans.periodFee, type: 'number' }}
          value={amount}
          fault={centsOf(amount, exponent) === undefined ? t.plans.amountDecimals(exponent) : undefined}
          onInput={(text) => set({ amount: text })}
        />
        <FieldInput
          field={{ name: 'currency', label: t.plans.currency, choices: currencies }}
          value={currency}
          fault={isCurrency(currency) ? undefined : t.plans.currencyHint}
          onInput={(text) => set({ currency: text })}
        />
        <FieldInput
          field={{ name: 'advance', label: t.plans.inAdvance, type: 'checkbox' }}
          value={String(payInAdvance)}
          onInput={(text) => set({ payInAdvance: text === 'true' })}
        />
        <FieldInput
          field={{ name: 'trial', label: words.trial, type: 'number' }}
          value={draft.value.trial}
          onInput={(text) => set({ trial: text.trim() })}
        />
        <FieldInput
          field={{ name: 'commitment', label: words.commitment, type: 'number', hint: words.commitmentHint }}
          value={draft.value.commitment}
          fault={
            draft.value.commitment !== '' && centsOf(draft.value.commitment, exponent) === undefined
              ? words.amountNeeded
              : undefined
          }
          onInput={(text) => set({ commitment: text.trim() })}
        />
        <FieldInput
          field={{ name: 'taxes', label: words.taxes, hint: words.taxesHint, from: taxes, isMany: true }}
          value={draft.value.taxCodes}
          onInput={(text) => set({ taxCodes: text })}
        />
      </div>
      <Section title={t.plans.usageCharges}>
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
          <Empty title={metrics.length === 0 ? t.plans.noMetrics : t.plans.noChargesYet}>
            {metrics.length === 0 && <a href={to('metrics')}>{t.plans.makeMetric}</a>}
          </Empty>
        )}
        {metrics[0] && (
          <p class="bar">
            <button type="button" onClick={() => set({ charges: [...charges, newCharge(metrics[0]!.svc_id)] })}>
              {t.plans.addCharge}
            </button>
          </p>
        )}
      </Section>
      <Section title={words.fixedCharges}>
        <FixedChargesEditor charges={draft.value.fixedCharges} onChange={(fixedCharges) => set({ fixedCharges })} />
      </Section>
      <Section title={words.thresholds}>
        <ThresholdsEditor
          thresholds={draft.value.thresholds}
          currency={currency}
          onChange={(thresholds) => set({ thresholds })}
        />
      </Section>
      <Section title={words.entitlements}>
        <EntitlementsEditor granted={draft.value.entitlements} onChange={(entitlements) => set({ entitlements })} />
      </Section>
      {charges.length > 0 && can('customer_usage') && (
        <Section title={words.tryTitle}>
          <TryOn draft={draft.value} metrics={metrics} />
        </Section>
      )}
    </Page>
  );
}
