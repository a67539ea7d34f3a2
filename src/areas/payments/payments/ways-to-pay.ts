import { toWire } from '../../../engine/money/wire.ts';
import { can, offersKindsOfMethod, type StoredConnection, wireOf } from '../../../platform/payments/providers.ts';
import { kindsIn } from '../../../platform/payments/unstored-kinds.ts';
import type { BankAccount } from '../../customers/e-invoicing.ts';

/** The connection of a customer, as far as it matters for paying on a page. */
export interface PageConnection {
  connection: (StoredConnection & { deleted_at: unknown }) | undefined;
  provider_customer_id: string | null;
  provider_payment_methods: readonly string[];
}

/**
 * Whether an amount can be paid on a page of the customer's provider: it has pages, knows the customer, and takes the
 * currency and the amount. Rule: pay-links.md#what-the-page-shows.
 */
export function canPayOnPage(
  { connection, provider_customer_id, provider_payment_methods }: PageConnection,
  { amountCents, currency }: { amountCents: number; currency: string },
): boolean {
  if (!connection || connection.deleted_at !== null || !can(connection, 'payment_page')) return false;
  if (provider_customer_id === null && can(connection, 'customers')) return false;
  if (!isTakenOnPage(connection, provider_payment_methods, currency)) return false;
  const wire = toWire(wireOf(connection.provider_type, connection.settings), amountCents, currency);
  return wire !== undefined && wire.wire > 0;
}

/** Whether the kinds of payment that a customer may choose from contain one for a currency. */
export const isTakenOnPage = (connection: StoredConnection, kinds: readonly string[], currency: string): boolean =>
  !offersKindsOfMethod(connection) || kindsIn(kinds, currency).length > 0;

/** The account to which money of a currency is transferred: the first of the currency, else the first of any. */
export const accountFor = (accounts: readonly BankAccount[], currency: string): BankAccount | undefined =>
  accounts.find((account) => account.currency === currency) ?? accounts.find((account) => account.currency === null);

/** How many invoice numbers a transfer is to quote, so that they fit into its 140 characters. */
const NUMBERS_QUOTED = 5;

/** What a transfer is to quote, so that the money is known. */
export const referenceOf = (numbers: readonly string[]): string => numbers.slice(0, NUMBERS_QUOTED).join(', ');
