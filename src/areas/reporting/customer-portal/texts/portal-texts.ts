import type { PaymentState } from '../payment-state.ts';

/** What became of a credit note. `settling`: it settles the invoice that it credits. */
export type NoteState = 'available' | 'used' | 'voided' | 'refunded' | 'refundPending' | 'refundFailed' | 'settling';

/** Why a form is refused; `tooSmall` names `{min}`, `tooLarge` `{max}`. */
export type FaultName =
  | 'mandatory'
  | 'amount'
  | 'tooSmall'
  | 'tooLarge'
  | 'tooMany'
  | 'unpaid'
  | 'invalid'
  | 'email'
  | 'vat'
  | 'tooLong'
  | 'lastMethod'
  | 'mostAlerts'
  | 'alertExists'
  | 'stale'
  | 'notNow';

interface Message {
  title: string;
  text: string;
}

/** Every word of the portal pages that no document prints, in one language. Braces are filled in. */
export interface PortalTexts {
  title: string;
  overview: string;
  /** Leads past the head of the page. */
  skip: string;
  balance: string;
  due: string;
  overdue: string;
  /** `{amount}`, as the next. */
  overduePart: string;
  payOverdue: string;
  soon: string;
  subscriptions: string;
  states: { active: string; pending: string; incomplete: string; terminated: string };
  /** `{date}`, as the next three. */
  nextBilling: string;
  startsOn: string;
  endsOn: string;
  endedOn: string;
  /** `{amount}` a period. */
  per: { weekly: string; monthly: string; quarterly: string; semiannual: string; yearly: string };
  plan: string;
  usage: string;
  usageUnknown: string;
  projected: string;
  /** `{low}`, `{high}`. */
  band: string;
  daysLeft: string;
  nextBill: string;
  freeLeft: string;
  nextUnit: string;
  /** `{amount}`, `{units}`. */
  perUnits: string;
  tier: string;
  /** `{number}`, `{of}`. */
  tierOf: string;
  /** `{name}`. */
  perDay: string;
  /** `{days}`, `{units}`. */
  perDayHint: string;
  asTable: string;
  day: string;
  nextInvoice: string;
  /** `{date}`. */
  nextInvoiceHint: string;
  features: string;
  yes: string;
  no: string;
  /** `{used}`, `{limit}`. */
  usedOf: string;
  /** `{date}`. */
  resetsOn: string;
  /** `{credits}`. */
  credits: string;
  available: string;
  /** `{amount}`. */
  beyond: string;
  usedUp: string;
  /** `{date}`. */
  expiresOn: string;
  validUntil: string;
  /** `{date}`: a month. */
  validUntilMonth: string;
  transactions: string;
  kinds: { purchased: string; granted: string; voided: string; invoiced: string };
  balancePerDay: string;
  /** `{days}`, `{amount}`. */
  balanceHint: string;
  topUp: string;
  /** `{currency}`. */
  howMuch: string;
  /** `{min}`, `{max}`. */
  between: string;
  review: string;
  reviewTitle: string;
  youGet: string;
  payNext: string;
  /** `{method}`. */
  chargedTo: string;
  creditsWhenPaid: string;
  /** `{amount}`. */
  buyFor: string;
  change: string;
  documents: string;
  invoices: string;
  allInvoices: string;
  receipts: string;
  for: string;
  state: string;
  deeds: string;
  year: string;
  all: string;
  filter: string;
  noneOfThese: string;
  payment: Record<PaymentState, string>;
  noteStates: Record<NoteState, string>;
  pay: string;
  /** `{amount}`. */
  left: string;
  nothing: string;
  /** The whole first page of a customer who has nothing yet. */
  nothingAtAll: string;
  newer: string;
  older: string;
  back: string;
  methods: string;
  noMethods: string;
  addMethod: string;
  defaultMethod: string;
  makeDefault: string;
  remove: string;
  card: string;
  debit: string;
  details: string;
  more: string;
  changeDetails: string;
  fields: {
    legal_name: string;
    name: string;
    email: string;
    phone: string;
    address_line1: string;
    address_line2: string;
    zipcode: string;
    city: string;
    state: string;
    country: string;
  };
  alerts: string;
  alertsHint: string;
  /** What an alert is about: all usage, or that of a metric. */
  usageOf: string;
  allUsage: string;
  /** `{amount}`. */
  fromAmount: string;
  addAlert: string;
  save: string;
  language: string;
  languageHint: string;
  useLanguage: string;
  support: string;
  terms: string;
  privacy: string;
  faults: Record<FaultName, string>;
  said: { saved: string; charging: string; method: string; alerts: string; returned: string };
  notices: Record<
    'preparing' | 'unauthorized' | 'notFound' | 'tooMany' | 'failed' | 'forbidden' | 'pending' | 'linkSent',
    Message
  >;
  /** `{issuer}` in the text. */
  expired: Message & { button: string };
}
