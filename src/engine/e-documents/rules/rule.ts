import type { DocumentFacts, DocumentParty } from '../facts.ts';
import { PROFILES, type Profile, profileFacts, type Receiver } from '../profiles.ts';

/** Whose record repairs what a rule finds. */
export type Side = 'seller' | 'buyer' | 'document' | 'tax';

/** A rule of the receivers, tested on the facts of a document before anything is written. */
export interface Rule {
  /** As its authors name it. */
  id: string;
  profiles: readonly Profile[];
  side: Side;
  /** Where the facts decide whose record it is. */
  sideOf?(facts: DocumentFacts): Side | undefined;
  /** The field of ours that repairs it. */
  field: string;
  text: string;
  /** A warning is shown, and the document goes out all the same. */
  isWarning?: true;
  /** Whether the facts follow the rule. */
  test(facts: DocumentFacts): boolean;
}

export type Made = Omit<Rule, 'profiles'>;

/** Rules of some receivers; those of EN 16931 hold in every profile. */
export const rulesOf = (receivers: readonly Receiver[], rules: readonly Made[]): Rule[] => {
  const profiles = PROFILES.filter(
    (profile) => receivers.includes('en16931') || receivers.includes(profileFacts[profile].receiver),
  );
  return rules.map((rule) => ({ ...rule, profiles }));
};

/** A rule that holds for each party: one row a side, so that a fault names the record that repairs it. */
export const ofEachParty = ({
  test,
  ...rule
}: Omit<Made, 'side' | 'sideOf' | 'test'> & { test(party: DocumentParty): boolean }): Made[] =>
  (['seller', 'buyer'] as const).map((side) => ({ ...rule, side, test: (facts) => test(facts[side]) }));

/** Whether a sum was computed: one that overflows is no number that a document could state. */
export const isAmount = (cents: number): boolean => Number.isSafeInteger(cents);

export const isFilled = (text: string | null): boolean => text !== null && text.trim() !== '';

/** Digits of the fraction that a document may show; currencies with more cannot be represented. */
export const MOST_DECIMALS = 2;
