/** The kinds of electronic documents that receivers ask for. */
export const PROFILES = [
  'en16931_ubl',
  'en16931_cii',
  'peppol_bis3',
  'xrechnung_ubl',
  'xrechnung_cii',
  'facturx',
] as const;
export type Profile = (typeof PROFILES)[number];

/** What is made where nobody chose a profile. */
export const DEFAULT_PROFILE: Profile = 'en16931_ubl';

/** Sets of rules that receivers apply; those of EN 16931 hold for all. */
export type Receiver = 'en16931' | 'peppol' | 'xrechnung';

interface ProfileFacts {
  syntax: 'ubl' | 'cii';
  receiver: Receiver;
  /** BT-24. */
  customization: string;
  /** BT-23. */
  process: string | null;
  /** A PDF carries the XML as an attachment. */
  isPdf: boolean;
}

const EN_16931 = 'urn:cen.eu:en16931:2017';
const PEPPOL_PROCESS = 'urn:fdc:peppol.eu:2017:poacc:billing:01:1.0';
const XRECHNUNG = `${EN_16931}#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0`;

const plain = { receiver: 'en16931', customization: EN_16931, process: null } as const;
const xrechnung = {
  receiver: 'xrechnung',
  customization: XRECHNUNG,
  process: PEPPOL_PROCESS,
  isPdf: false,
} as const;

/** What a profile means. Rule: e-documents.md#profiles. */
export const profileFacts: Readonly<Record<Profile, ProfileFacts>> = {
  en16931_ubl: { ...plain, syntax: 'ubl', isPdf: false },
  en16931_cii: { ...plain, syntax: 'cii', isPdf: false },
  peppol_bis3: {
    syntax: 'ubl',
    receiver: 'peppol',
    customization: `${EN_16931}#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0`,
    process: PEPPOL_PROCESS,
    isPdf: false,
  },
  xrechnung_ubl: { ...xrechnung, syntax: 'ubl' },
  xrechnung_cii: { ...xrechnung, syntax: 'cii' },
  facturx: { ...plain, syntax: 'cii', isPdf: true },
};

interface Choice {
  customerProfile: Profile | null;
  entityProfile: Profile | null;
  einvoicing: boolean;
  entityCountry: string | null;
  /** Whether the customer is a public body with a Leitweg-ID. */
  hasLeitwegId: boolean;
}

/**
 * The profile of a customer's documents: the customer's own, else the billing entity's, else with `einvoicing` what the
 * law of the entity's country asks for.
 *
 * @returns null if nobody chose one
 * Rule: e-documents.md#profiles.
 */
export function chooseProfile(choice: Choice): Profile | null {
  const named = choice.customerProfile ?? choice.entityProfile;
  if (named || !choice.einvoicing) return named;
  if (choice.entityCountry === 'FR') return 'facturx';
  if (choice.entityCountry === 'DE') return choice.hasLeitwegId ? 'xrechnung_ubl' : 'facturx';
  return choice.entityCountry === 'BE' ? 'peppol_bis3' : null;
}
