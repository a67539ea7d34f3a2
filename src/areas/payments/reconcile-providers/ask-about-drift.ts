import type { Scope } from '../../../platform/db/scope.ts';
import {
  CredentialsRefused,
  ProviderConflict,
  ProviderRefusal,
  ReadRefused,
  TooManyCalls,
} from '../../../platform/payments/port.ts';
import { can } from '../../../platform/payments/providers.ts';
import { answeredInTime, type PreStep } from '../../../platform/pre-step.ts';
import { Outage, refuse } from '../../../platform/refusal.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { receivedFigures } from '../collect-payments/other-money.ts';
import type { DriftKind } from '../provider-drifts/drift-kinds.ts';
import { type DriftRow, getDrift } from '../provider-drifts/queries.ts';
import type { DriftRepair } from '../provider-drifts/schema.ts';
import { type Connected, connected } from '../provider-network/network.ts';
import type { Answered } from './compare-anew.ts';
import { idsListed, readStoredMethodsThere } from './compare-methods.ts';
import { giveBack } from './give-back.ts';

/**
 * Pre-step of `POST /provider_drifts/{svc_id}/repair`: asks the provider anew, and has a double payment given back
 * under a key of the drift, so that a repetition gives nothing back twice.
 *
 * @throws Refusal 404 provider_drift; 422 provider_error, also without an answer (provider_unreachable); 401; 429
 * Rule: provider-reconciliation.md#routes.
 */
export const askAboutDrift: PreStep = async (deps, { organizationId, input }) => {
  const scope = { db: deps.sql, organizationId };
  const drift = await getDrift(scope, input.svc_id);
  if (drift.status !== 'open') return undefined;
  const connection = await connected(deps, organizationId, drift.connection_id);
  if (!connection) return undefined;
  const { action } = input.body as DriftRepair;
  try {
    const told = await answeredInTime(askAnew(scope, connection, drift));
    if (action === 'refund' && drift.kind === 'double_payment')
      await answeredInTime(giveBack(deps, scope, connection, { driftId: drift.id, told }));
    return told satisfies Answered;
  } catch (error) {
    // What a person has settled needs no word of an account that does not answer any more.
    if (action === 'resolve') return { theirs: drift.theirs, isThereAgain: false } satisfies Answered;
    const { code } = connection.row;
    if (error instanceof ProviderConflict) throw refuse.provider(code, error.error);
    if (error instanceof ProviderRefusal || error instanceof ReadRefused || error instanceof CredentialsRefused) {
      const { httpStatus, message } = error.error;
      if (httpStatus === 401 || httpStatus === 403) throw refuse.providerCredentials(message);
      throw refuse.provider(code, error.error);
    }
    if (!(error instanceof Outage) || error instanceof TooManyCalls) throw error;
    throw refuse.provider(code, { code: 'provider_unreachable', message: 'The provider did not answer in time.' });
  }
};

const OF_PAYMENTS: readonly DriftKind[] = [
  'status_differs',
  'payment_missing_here',
  'amount_differs',
  'currency_differs',
];

async function askAnew(scope: Scope, { row, provider }: Connected, drift: DriftRow): Promise<Answered> {
  const before = { theirs: drift.theirs, isThereAgain: false };
  if (
    drift.kind === 'customer_missing_there' ||
    drift.kind === 'method_missing_there' ||
    drift.kind === 'mandate_inactive'
  )
    return askAboutMethod(scope, { row, provider }, drift);
  if (!can(row, 'read')) return before;
  const isOfRefund = drift.theirs?.provider_payment_id !== undefined;
  if (OF_PAYMENTS.includes(drift.kind) && !isOfRefund) {
    const told = await provider.readPayment(drift.provider_object_id);
    if (told.kind !== 'answered') return before;
    const theirs = { ...drift.theirs, ...receivedFigures(told.received), status: told.status };
    return { theirs, isThereAgain: true };
  }
  if (drift.kind === 'refund_status_differs' || drift.kind === 'refund_missing_here') {
    const { status } = await provider.readRefund(drift.provider_object_id);
    return { theirs: { ...drift.theirs, status }, isThereAgain: true };
  }
  // A refund without an answer has no id there by which it could be asked about.
  const isKnown = drift.ours?.provider_refund_id === drift.provider_object_id;
  if (drift.kind === 'payment_missing_there')
    return { ...before, isThereAgain: await isToldOf(() => provider.readPayment(drift.provider_object_id)) };
  if (drift.kind === 'refund_missing_there' && isKnown)
    return { ...before, isThereAgain: await isToldOf(() => provider.readRefund(drift.provider_object_id)) };
  return before;
}

/** Whether the provider has an object. @throws CredentialsRefused, other Outages */
async function isToldOf(read: () => Promise<unknown>): Promise<boolean> {
  try {
    await read();
    return true;
  } catch (error) {
    if (error instanceof ReadRefused) return false;
    throw error;
  }
}

async function askAboutMethod(scope: Scope, connection: Connected, drift: DriftRow): Promise<Answered> {
  const before = { theirs: drift.theirs, isThereAgain: false };
  if (drift.customer_id === null) return before;
  const customer = await readCustomer(scope, drift.customer_id);
  if (customer.payment_provider_id !== connection.row.id) return before;
  const there = await readStoredMethodsThere(scope, connection, customer);
  if (there?.kind !== 'read') return before;
  const isThereAgain = drift.kind === 'customer_missing_there' || idsListed(there).has(drift.provider_object_id);
  return { ...before, isThereAgain };
}
