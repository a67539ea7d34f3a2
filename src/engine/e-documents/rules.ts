import type { DocumentFacts } from './facts.ts';
import { amountRules } from './rules/amounts-add-up.ts';
import { codeRules } from './rules/code-lists.ts';
import { documentRules } from './rules/document-and-lines.ts';
import { receiverRules } from './rules/receivers.ts';
import type { Rule, Side } from './rules/rule.ts';
import { partyRules } from './rules/seller-and-buyer.ts';
import { vatRules } from './rules/vat.ts';

/**
 * Every rule that is tested before a document is written: those of EN 16931, then those of the receivers. What the
 * model of the facts cannot break has no row. Rule: e-documents.md#own-rules.
 */
export const eDocumentRules: readonly Rule[] = [
  ...amountRules,
  ...documentRules,
  ...partyRules,
  ...codeRules,
  ...vatRules,
  ...receiverRules,
];

/** What keeps a document from going out, or what its receiver will complain about, with the field that repairs it. */
export interface Problem {
  rule: string;
  severity: 'error' | 'warning';
  /** Whose field it is. */
  resource: 'billing_entity' | 'customer' | 'invoice' | 'credit_note' | 'tax';
  field: string;
  text: string;
}

/**
 * Problems of a document in its profile, in the order of the rules; none if its receiver takes it.
 *
 * Of a self-billed document the customer is the seller, so the fields of the seller are the customer's.
 */
export const problemsOf = (facts: DocumentFacts): Problem[] =>
  eDocumentRules
    .filter((rule) => rule.profiles.includes(facts.profile) && !rule.test(facts))
    .map((rule) => ({
      rule: rule.id,
      severity: rule.isWarning ? 'warning' : 'error',
      resource: resourceOf(rule.sideOf?.(facts) ?? rule.side, facts),
      field: rule.field,
      text: rule.text,
    }));

/** Whether a document with these problems is handed out. */
export const isReady = (problems: readonly Problem[]): boolean =>
  problems.every(({ severity }) => severity !== 'error');

function resourceOf(side: Side, { kind, typeCode }: DocumentFacts): Problem['resource'] {
  if (side === 'tax') return 'tax';
  if (side === 'document') return kind === 'Invoice' ? 'invoice' : 'credit_note';
  const isSelfBilled = typeCode === '389' || typeCode === '261';
  return (side === 'seller') === isSelfBilled ? 'customer' : 'billing_entity';
}
