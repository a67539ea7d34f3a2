import type { BankAccount } from '../../customers/e-invoicing.ts';

/** Where a customer transfers money to, as people type it into the form of their bank. */
export interface Transfer {
  /** Null: the issuer. */
  holder: string | null;
  /** What identifies the account, by its name in that form. */
  numbers: readonly (readonly [name: string, value: string])[];
  reference: string | null;
  /** What is left of the amount, where a part has come in. */
  remainingCents: number | null;
  /** A page of the provider that says the same. */
  url: string | null;
}

/** A transfer to an account of the seller. */
export const transferTo = ({ holder, iban, bic }: BankAccount, reference: string): Transfer => ({
  holder,
  numbers: [['IBAN', iban], ...(bic === null ? [] : [['BIC', bic] as const])],
  reference,
  remainingCents: null,
  url: null,
});

/** Names of what identifies an account, in the order in which they are shown, by the field that holds it. */
const NAMES: Readonly<Record<string, string>> = {
  iban: 'IBAN',
  bic: 'BIC',
  bank_name: 'Bank',
  bank_code: 'Bank code',
  branch_name: 'Branch',
  branch_code: 'Branch code',
  sort_code: 'Sort code',
  routing_number: 'Routing number',
  account_type: 'Account type',
  account_number: 'Account number',
  clabe: 'CLABE',
};

/** Longest text that is shown; none of an account has as many letters. */
const LETTERS_MAX = 140;

const shown = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value.slice(0, LETTERS_MAX) : null;

type Fields = Record<string, unknown>;

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});

/**
 * The account that a provider names for a payment that waits for a transfer; undefined of other payments. The
 * currencies of transfers have the same smallest unit at the provider as with us.
 *
 * Rule: payments.md#charged-on-line.
 */
export function transferOf(nextAction: Readonly<Fields>): Transfer | undefined {
  const said = nextAction.display_bank_transfer_instructions;
  if (typeof said !== 'object' || said === null) return undefined;
  const { reference, amount_remaining: remaining, hosted_instructions_url: url, ...others } = fieldsOf(said);
  const addresses = Array.isArray(others.financial_addresses) ? others.financial_addresses.map(fieldsOf) : [];
  const address = fieldsOf(addresses[0]?.[String(addresses[0]?.type)]);
  return {
    holder: shown(address.account_holder_name),
    numbers: Object.entries(NAMES).flatMap(([field, name]) => {
      const value = shown(address[field]);
      return value === null ? [] : [[name, value] as const];
    }),
    reference: shown(reference),
    remainingCents: Number.isSafeInteger(remaining) && (remaining as number) > 0 ? (remaining as number) : null,
    url: typeof url === 'string' && /^https:\/\//.test(url) && URL.canParse(url) ? url : null,
  };
}
