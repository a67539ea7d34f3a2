/** Names of brands as they write themselves. */
const BRANDS: Readonly<Record<string, string>> = {
  visa: 'Visa',
  mastercard: 'Mastercard',
  mc: 'Mastercard',
  amex: 'American Express',
  american_express: 'American Express',
  discover: 'Discover',
  diners: 'Diners Club',
  jcb: 'JCB',
  unionpay: 'UnionPay',
  paypal: 'PayPal',
};

const DEBITS: Readonly<Record<string, string>> = {
  sepa_debit: 'SEPA',
  us_bank_account: 'ACH',
  bacs_debit: 'Bacs',
  au_becs_debit: 'BECS',
};

/** What people recognise a stored method by: Visa •••• 4242. */
export function methodName(
  { method_type: type, details }: { method_type: string; details: Readonly<Record<string, unknown>> },
  words: { card: string; debit: string },
): string {
  const brand = typeof details.brand === 'string' ? (BRANDS[details.brand.toLowerCase()] ?? details.brand) : undefined;
  const isDebit = type === 'bank_debit' || type in DEBITS;
  const kind = isDebit ? [words.debit, DEBITS[type]].filter(Boolean).join(' ') : (BRANDS[type] ?? words.card);
  const last4 = typeof details.last4 === 'string' ? ` •••• ${details.last4}` : '';
  return `${isDebit && brand ? `${kind} ${brand}` : (brand ?? kind)}${last4}`;
}
