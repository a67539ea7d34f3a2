/** What a payment provider can do. Rule: provider-connections.md#capabilities. */
export const CAPABILITIES = [
  /** It has records of customers, which we create and name. */
  'customers',
  /** A page on which a customer stores a method, without paying. */
  'setup_page',
  /** Charges a stored method while the customer is away. */
  'off_session_charge',
  /** A page on which a customer pays one amount. */
  'payment_page',
  /** Reserves an amount without taking it. */
  'authorize',
  'refund',
  /** Refunds less than the whole payment. */
  'partial_refund',
  /** Ends a payment that has not succeeded. */
  'cancel',
  /** Lists its payments, refunds and disputes, for reconciliation. */
  'list',
  /** Returns its state of a payment or refund. */
  'read',
  /** Has an interface by which we register our address for its events. */
  'register_inbound',
  /** Collects from bank accounts by mandates. */
  'mandate',
] as const;
export type Capability = (typeof CAPABILITIES)[number];
