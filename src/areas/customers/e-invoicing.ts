import { z } from 'zod';
import { ADDRESS_SCHEMES } from '../../engine/e-documents/electronic-address.ts';
import { isLeitwegId } from '../../engine/e-documents/identifiers.ts';
import type { EInvoicing } from '../../engine/e-documents/parties.ts';
import { PROFILES } from '../../engine/e-documents/profiles.ts';
import { REGISTERS } from '../../engine/e-documents/rules/long-code-lists.ts';
import { isCurrency } from '../../engine/money/currency.ts';
import { list } from '../../platform/schema/bounded.ts';
import { boolean, cleanText, FORMAT, INVALID, oneOf, text } from '../../platform/schema/fields.ts';
import { clearable } from '../../platform/schema/typed-text.ts';

/** Longest reference, name or number that receivers of electronic documents keep. */
const WORD_MAX = 100;
/** Longest reason why no tax is charged. */
const REASON_MAX = 500;
/** How many bank accounts an entity may name: one a currency is enough for most. */
const ACCOUNTS_MAX = 20;
const REGISTER = /^[0-9]{4}$/;
/** An IBAN, or the number of an account where there is none. */
const ACCOUNT = /^[A-Z0-9]{4,34}$/;
const BIC = /^[A-Z0-9]{8}([A-Z0-9]{3})?$/;

const word = () => cleanText({ max: WORD_MAX });
const code = (pattern: RegExp, known?: ReadonlySet<string>) =>
  clearable(
    z
      .string(INVALID)
      .max(WORD_MAX, FORMAT)
      .transform((value) => value.replaceAll(/\s/g, '').toUpperCase())
      .refine((value) => pattern.test(value), { error: FORMAT, abort: true })
      .refine((value) => known?.has(value) ?? true, INVALID),
  );

/**
 * Facts that electronic documents state about a billing entity or a customer: absent keys stay, null clears one, and a
 * null object clears them all. Rule: e-documents.md#facts.
 */
export const EInvoicingInput = z
  .object({
    buyer_reference: word(),
    leitweg_id: boolean().nullish(),
    endpoint_id: word(),
    endpoint_scheme: clearable(oneOf([...ADDRESS_SCHEMES] as [string, ...string[]])),
    legal_scheme: code(REGISTER, REGISTERS),
    tax_registration: word(),
    contact_name: word(),
    exemption_text: cleanText({ max: REASON_MAX }),
    creditor_id: word(),
    auto_send: boolean().nullish(),
  })
  .nullish();
export type EInvoicingInput = z.infer<typeof EInvoicingInput>;

/** The profile of a record's electronic documents; null leaves the choice to others. */
export const EDocumentProfile = clearable(oneOf(PROFILES));

/** Accounts to which customers transfer money, the first of a currency for documents in it. */
export const BankAccountsInput = list(
  z.object({
    iban: text({ max: WORD_MAX })
      .transform((value) => value.replaceAll(/\s/g, '').toUpperCase())
      .refine((value) => ACCOUNT.test(value), FORMAT),
    bic: code(BIC),
    holder: word(),
    currency: clearable(z.string(INVALID).max(WORD_MAX, INVALID).refine(isCurrency, INVALID)),
  }),
  { max: ACCOUNTS_MAX },
)
  .nullish()
  .transform((accounts) => (accounts === null ? [] : accounts?.map(bankAccount)));

/** A bank account as it is stored and shown. */
export interface BankAccount {
  iban: string;
  bic: string | null;
  holder: string | null;
  currency: string | null;
}

function bankAccount(account: { iban: string } & { [Key in 'bic' | 'holder' | 'currency']?: unknown }): BankAccount {
  const textOf = (value: unknown) => (typeof value === 'string' ? value : null);
  return {
    iban: account.iban,
    bic: textOf(account.bic),
    holder: textOf(account.holder),
    currency: textOf(account.currency),
  };
}

const textOrAbsent = z.string().optional();
/** What clients see of the facts: only the keys that are set. */
export const EInvoicingView = z.object({
  buyer_reference: textOrAbsent,
  leitweg_id: z.boolean().optional(),
  endpoint_id: textOrAbsent,
  endpoint_scheme: textOrAbsent,
  legal_scheme: textOrAbsent,
  tax_registration: textOrAbsent,
  contact_name: textOrAbsent,
  exemption_text: textOrAbsent,
  creditor_id: textOrAbsent,
  auto_send: z.boolean().optional(),
});
export type EInvoicingView = z.infer<typeof EInvoicingView>;
export const BankAccountView = z.object({
  iban: z.string(),
  bic: z.string().nullable(),
  holder: z.string().nullable(),
  currency: z.string().nullable(),
});

/** Facts after a change: sent keys replace stored ones, null removes one; null if none is left. */
export function changedEInvoicing(stored: EInvoicing | null, sent: NonNullable<EInvoicingInput> | null) {
  if (sent === null) return null;
  const facts = Object.entries({ ...stored, ...withoutAbsent(sent) }).filter(([, value]) => value !== null);
  return facts.length === 0 ? null : (Object.fromEntries(facts) as EInvoicing);
}

const withoutAbsent = (sent: object) =>
  Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined));

/** Faults of facts that only show together: a Leitweg-ID has check digits. */
export const eInvoicingFaults = (facts: EInvoicing | null): Record<string, string[]> =>
  facts?.leitweg_id && facts.buyer_reference && !isLeitwegId(facts.buyer_reference)
    ? { 'e_invoicing.buyer_reference': [FORMAT] }
    : {};

/** The facts as a record shows them: absent where nothing was ever said, as before there were any. */
export const eInvoicingShown = (row: {
  e_invoicing: EInvoicing | null;
  e_document_profile: (typeof PROFILES)[number] | null;
}) => ({
  ...(row.e_invoicing === null ? {} : { e_invoicing: row.e_invoicing as EInvoicingView }),
  ...(row.e_document_profile === null ? {} : { e_document_profile: row.e_document_profile }),
});
