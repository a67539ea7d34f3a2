import type { Capability } from './capabilities.ts';
import type { Words } from './words.ts';

/** A provider under a name of the published interface. Rule: payments.md#providers. */
export interface ContractProviderRow<Name extends string = string> {
  name: Name;
  words: Words;
  capabilities: readonly Capability[];
  /** Its pages offer the kinds of method that the customer's `provider_payment_methods` names. */
  offersKindsOfMethod: boolean;
}

/** A row whose name keeps its literal type. */
export const contractProvider = <const Name extends string>(row: ContractProviderRow<Name>) => row;
