/**
 * Facts that make one whole: half an address of one day and half of another would be the address of nobody, and a
 * number means nothing in the register of another one.
 */
const WHOLES: readonly (readonly string[])[] = [
  ['address_line1', 'address_line2', 'city', 'zipcode', 'state', 'country'],
  ['address_line1', 'address_line2', 'city', 'zipcode', 'state', 'country'].map((field) => `shipping_address.${field}`),
  ['e_invoicing.endpoint_id', 'e_invoicing.endpoint_scheme'],
  ['legal_number', 'e_invoicing.legal_scheme'],
  ['e_invoicing.buyer_reference', 'e_invoicing.leitweg_id'],
];
const SINGLE = [
  ...['email', 'phone', 'tax_identification_number', 'metadata', 'bank_accounts'],
  ...['tax_registration', 'contact_name', 'exemption_text', 'creditor_id'].map((field) => `e_invoicing.${field}`),
];
const GROUPS: readonly (readonly string[])[] = [...WHOLES, ...SINGLE.map((path) => [path])];

type Stored = Readonly<Record<string, unknown>>;

/**
 * The facts of a party on the day of issue, with those that were missing then as they are now. What was stated never
 * changes, and no profile is chosen afterwards; a whole of several facts is completed only where what it states is
 * still so.
 *
 *   frozen Berlin without a post code, now Berlin 10115 → Berlin 10115
 *   frozen Berlin without a post code, now Hamburg 20095 → Berlin without a post code
 *
 * Rule: e-documents.md#facts.
 */
export function filledFacts<Facts extends object>(frozen: Facts, now: object): Facts {
  return GROUPS.reduce((facts, paths) => completed(facts, paths, now as Stored), frozen as Stored) as Facts;
}

function completed(frozen: Stored, paths: readonly string[], now: Stored): Stored {
  const present = paths.filter((path) => !isMissing(factAt(frozen, path)));
  // A mark that is not set says nothing by itself: a reference that was missing may come with its mark.
  const stated = present.some((path) => factAt(frozen, path) !== false) ? present : [];
  const isSame = stated.every((path) => factAt(frozen, path) === factAt(now, path));
  const open = paths.filter((path) => !stated.includes(path) && !isMissing(factAt(now, path)));
  return isSame ? open.reduce((facts, path) => withFact(facts, path, factAt(now, path)), frozen) : frozen;
}

const isMissing = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

const factAt = (record: Stored, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => (value as Stored | null | undefined)?.[key], record);

function withFact(record: Stored, path: string, value: unknown): Stored {
  const [group, field] = path.split('.') as [string, string | undefined];
  if (field === undefined) return { ...record, [group]: value };
  return { ...record, [group]: { ...(record[group] as Stored | null | undefined), [field]: value } };
}
