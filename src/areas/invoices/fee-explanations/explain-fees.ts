import { localDates, periodDays } from '../../../engine/calendar/day-difference.ts';
import { shownEnd, shownStart } from '../../../engine/calendar/period.ts';
import { type ExplainedFee, explainFee } from '../../../engine/explain/explain-fee.ts';
import { InputsIncomplete, periodOf } from '../../../engine/explain/read-stored-inputs.ts';
import { sentences } from '../../../engine/explain/sentences.ts';
import type { DayCount, StoredFeeInputs } from '../../../engine/explain/stored-inputs.ts';
import { decimalText } from '../../../engine/money/decimal.ts';
import type { Context } from '../../../platform/context.ts';
import type { FeeId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { boundedPage } from '../../../platform/lists/bounded-page.ts';
import { limitOf, pageMeta } from '../../../platform/lists/pagination.ts';
import { Answer } from '../../../platform/operation.ts';
import { refuse } from '../../../platform/refusal.ts';
import { seconds } from '../../../platform/schema/view.ts';
import { bookSettings } from '../../catalog/model-books/book-settings.ts';
import { explainRatings } from '../../usage/event-rating/explain-rating.ts';
import { parseProperties } from '../../usage/events/property-json.ts';
import { eventText } from '../../usage/events/view.ts';
import { type FeeRow, getFee } from '../fees/queries.ts';
import {
  type CountedFee,
  countEventsOfFee,
  listEventsOfFee,
  listRemovedOf,
  type RatedEvent,
} from './counted-events.ts';
import { type FeeInputsRow, findInvoiceStatus, listFeeInputs } from './queries.ts';
import type { FeeEventsQuery } from './schema.ts';

/**
 * Explains a fee step by step. It is computed again at every read from its stored inputs and compared with the stored
 * amount; a difference is shown and logged.
 *
 * @throws Refusal 404 fee
 * Rule: fee-explanations.md.
 */
export async function showExplanation(ctx: Context, { svc_id }: { svc_id: string }) {
  const { fee, stored } = await readFee(ctx, svc_id);
  const status = await findInvoiceStatus(ctx, fee.invoice_id);
  const shared = {
    svc_fee_id: fee.id,
    fee_type: fee.fee_type,
    charge_model: stored?.inputs.price.charge_model ?? null,
    currency: fee.amount_currency,
    engine_version: stored?.engine_version ?? null,
    provisional: status === 'draft',
    events: eventsLink(fee, stored),
  };
  const explained = stored === undefined ? undefined : explainOrNot(stored.inputs);
  if (stored === undefined || explained === undefined)
    return {
      explanation: {
        ...shared,
        explainable: false,
        reason: 'inputs_not_stored',
        window: null,
        steps: [],
        texts: [],
        check: null,
      },
    };
  const check = checkOf(fee, explained);
  if (!check.equal)
    ctx.log.error(
      { organization_id: ctx.organizationId, feeId: fee.id, ...check },
      'a fee is not what its inputs amount to',
    );
  return {
    explanation: {
      ...shared,
      explainable: true,
      window: fee.fee_type === 'credit' ? null : windowOf(stored.inputs, explained),
      steps: explained.steps,
      texts: sentences(explained.steps),
      check,
    },
  };
}

/**
 * The events behind a usage fee, as they were when it was made: the first page of millions costs what one of few does.
 * Those that retention has removed are not among them, unless they were brought back from the archive. Calls of
 * language models have their rating beside them.
 *
 * @throws Refusal 404 fee; 422 page: value_is_out_of_range, too deep in a list that goes on there
 */
export async function showFeeEvents(ctx: Context, { svc_id, query }: { svc_id: string; query: FeeEventsQuery }) {
  const { fee, stored } = await readFee(ctx, svc_id);
  const counted = stored === undefined || !hasEvents(stored) ? undefined : await countedFeeOf(ctx, fee, stored);
  const { rows, total } =
    counted === undefined
      ? { rows: [], total: 0 }
      : await boundedPage(query, {
          rows: () => listEventsOfFee(ctx, counted, limitOf(query)),
          count: () => countEventsOfFee(ctx, counted),
        });
  const meta = JSON.stringify(pageMeta(query, total));
  const texts = await ratedTexts(ctx, rows);
  return new Answer(null, { json: `{"events":[${texts.join(',')}],"meta":${meta}}` });
}

/** Events as they are shown, calls of language models with their parts and prices. Rule: price-book.md#explained. */
async function ratedTexts(ctx: Context, rows: readonly RatedEvent[]): Promise<string[]> {
  const calls = rows.filter(({ ai_settings: settings }) => settings !== null);
  const ratings = await explainRatings(
    ctx.db,
    calls.map((call) => ({
      organizationId: ctx.organizationId,
      settings: bookSettings(call.ai_settings!),
      properties: parseProperties(call.properties),
      amountCents: call.precise_total_amount_cents,
      at: call.timestamp,
    })),
  );
  const ratingOf = new Map(calls.map(({ id }, index) => [id, ratings[index]]));
  return rows.map((row) => {
    const rating = ratingOf.get(row.id);
    return rating ? `${eventText(row).slice(0, -1)},"rating":${JSON.stringify(rating)}}` : eventText(row);
  });
}

async function countedFeeOf(ctx: Context, fee: FeeRow, stored: FeeInputsRow): Promise<CountedFee> {
  const counted = { ...stored, external_subscription_id: fee.external_subscription_id };
  return { ...counted, isRestored: (await listRemovedOf(ctx, [counted])).has(fee.id) };
}

async function readFee(ctx: Context, id: FeeId): Promise<{ fee: FeeRow; stored: FeeInputsRow | undefined }> {
  if (!isUuid(id)) throw refuse.notFound('fee');
  const [fee, [stored]] = await Promise.all([getFee(ctx, id), listFeeInputs(ctx, [id])]);
  return { fee, stored };
}

/** Undefined when the inputs were too long to be stored in full. */
export function explainOrNot(inputs: StoredFeeInputs): ExplainedFee | undefined {
  try {
    return explainFee(inputs);
  } catch (error) {
    if (error instanceof InputsIncomplete) return undefined;
    throw error;
  }
}

function checkOf(fee: FeeRow, { computed, tail }: ExplainedFee) {
  const coupons = tail.preciseCouponsAmountCents;
  const equal =
    computed.explainedCents === fee.amount_cents &&
    computed.amountCents === fee.amount_cents &&
    tail.taxesAmountCents === fee.taxes_amount_cents &&
    coupons.eq(fee.precise_coupons_amount_cents);
  return {
    equal,
    explained_amount_cents: computed.explainedCents,
    stored_amount_cents: fee.amount_cents,
    explained_taxes_amount_cents: tail.taxesAmountCents,
    stored_taxes_amount_cents: fee.taxes_amount_cents,
    explained_precise_coupons_amount_cents: decimalText(coupons),
    stored_precise_coupons_amount_cents: decimalText(fee.precise_coupons_amount_cents),
  };
}

/** Whether a fee was counted from events: neither a true-up nor set by hand nor copied. */
export const hasEvents = ({ inputs }: FeeInputsRow): boolean =>
  inputs.fee_type === 'charge' && inputs.facts === undefined && inputs.usage?.aggregated_units !== undefined;

function eventsLink(fee: FeeRow, stored: FeeInputsRow | undefined) {
  if (stored === undefined || !hasEvents(stored)) return null;
  const { digest = null, version } = stored.events_watermark ?? {};
  return {
    count: fee.events_count ?? 0,
    digest: digest === null ? null : `${version === undefined ? 'sha256' : 'sha256-sum'}:${digest}`,
    url: `/fees/${fee.id}/events`,
  };
}

function windowOf({ window, fee_type, commitment, facts, price }: StoredFeeInputs, { steps }: ExplainedFee) {
  const period = periodOf(window.fee);
  const zone = window.timezone ?? null;
  const duration =
    commitment?.period_days ??
    (facts?.kind === 'true_up' ? facts.periodDays : null) ??
    (fee_type === 'fixed_charge' ? price.duration_days : undefined) ??
    (fee_type === 'charge' ? window.charges_duration_days : undefined) ??
    steps.find(({ code }) => code === 'days')?.inputs.duration ??
    null;
  const byDates = steps.some(({ inputs }) => inputs.days_counted_by === ('local_dates' satisfies DayCount));
  return {
    from: seconds(shownStart(period)),
    to: seconds(shownEnd(period)),
    timezone: zone,
    days: zone === null ? null : byDates ? localDates(period, zone) : periodDays(period, zone),
    days_counted_by: zone === null ? null : byDates ? ('local_dates' as const) : ('day_difference' as const),
    duration,
  };
}
