import { adyenContract } from './adyen/contract.ts';
import { cashfreeContract } from './cashfree/contract.ts';
import type { ContractProviderRow } from './contract-provider.ts';
import { flutterwaveContract } from './flutterwave/contract.ts';
import { gocardlessContract } from './gocardless/contract.ts';
import { moneyhashContract } from './moneyhash/contract.ts';
import { stripeContract } from './stripe/contract.ts';

/** Names of payment providers in objects of the published interface, a closed list. Rule: payments.md#providers. */
export const CONTRACT_PROVIDERS = [
  stripeContract.name,
  gocardlessContract.name,
  cashfreeContract.name,
  adyenContract.name,
  flutterwaveContract.name,
  moneyhashContract.name,
] as const;
export type ContractProvider = (typeof CONTRACT_PROVIDERS)[number];

const ROWS: Record<ContractProvider, ContractProviderRow> = {
  stripe: stripeContract,
  gocardless: gocardlessContract,
  cashfree: cashfreeContract,
  adyen: adyenContract,
  flutterwave: flutterwaveContract,
  moneyhash: moneyhashContract,
};

/** What the published interface has for a provider of that name. */
export const contractOf = (name: ContractProvider): ContractProviderRow => ROWS[name];

export const isContractProvider = (name: string): name is ContractProvider => Object.hasOwn(ROWS, name);
