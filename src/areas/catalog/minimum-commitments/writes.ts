import type { Temporal } from 'temporal-polyfill';
import type { FieldCodes } from '../../../engine/pricing/combination-rules.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { PlanId, TaxId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { findTaxesByCodes } from '../taxes/queries.ts';
import { replaceCommitmentTaxes } from '../taxes/writes.ts';
import type { CommitmentJson } from './queries.ts';
import type { CommitmentInput } from './schema.ts';

/** A minimum commitment as it will be, with its taxes when they are rewritten. */
export interface PreparedCommitment {
  commitment: CommitmentJson | null;
  taxIds?: TaxId[] | undefined;
}

/**
 * The minimum commitment of a plan as an input leaves it, and what is wrong with it; undefined if the input does not
 * mention it.
 *
 * @throws Refusal 404 tax
 */
export async function prepareCommitment(
  ctx: Context,
  given: CommitmentInput,
  stored: CommitmentJson | null,
): Promise<{ prepared: PreparedCommitment | undefined; faults: FieldCodes }> {
  if (given === undefined) return { prepared: undefined, faults: {} };
  if (given === null || Object.keys(given).length === 0) return { prepared: { commitment: null }, faults: {} };

  const amount = given.amount_cents ?? stored?.amount_cents;
  if (amount === undefined)
    return { prepared: undefined, faults: { 'minimum_commitment.amount_cents': ['value_is_mandatory'] } };
  const name = given.invoice_display_name;
  const now = ctx.now().toString();
  const taxes = given.tax_codes && (await findTaxesByCodes(ctx, given.tax_codes));
  return {
    prepared: {
      commitment: {
        id: stored?.id ?? newId(),
        amount_cents: amount,
        invoice_display_name: name === undefined ? (stored?.invoice_display_name ?? null) : name?.trim() ? name : null,
        created_at: stored?.created_at ?? now,
        updated_at: now,
      },
      taxIds: taxes?.map(({ id }) => id),
    },
    faults: {},
  };
}

/** Gives a plan the minimum commitment that was prepared, or takes it away. */
export async function saveCommitment(
  scope: Scope,
  planId: PlanId,
  { commitment, taxIds }: PreparedCommitment,
  now: Temporal.Instant,
): Promise<void> {
  const { db, organizationId } = scope;
  if (commitment === null) {
    await db`delete from minimum_commitments where organization_id = ${organizationId} and plan_id = ${planId}`;
    return;
  }
  await db`
    insert into minimum_commitments (id, organization_id, plan_id, amount_cents, invoice_display_name, created_at,
      updated_at)
    values (${commitment.id}, ${organizationId}, ${planId}, ${commitment.amount_cents},
      ${commitment.invoice_display_name}, ${now}, ${now})
    on conflict (organization_id, plan_id) do update
    set amount_cents = excluded.amount_cents, invoice_display_name = excluded.invoice_display_name,
      updated_at = excluded.updated_at`;
  if (taxIds) await replaceCommitmentTaxes(scope, commitment.id, taxIds);
}
