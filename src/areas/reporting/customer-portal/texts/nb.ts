import type { PortalTexts } from './portal-texts.ts';

export const nb: PortalTexts = {
  title: 'Fakturering',
  balance: 'Saldo',
  due: 'Å betale',
  overdue: 'Forfalt',
  subscriptions: 'Abonnementer',
  states: {
    active: 'Aktivt',
    pending: 'Starter senere',
    incomplete: 'Venter på betaling',
    terminated: 'Avsluttet',
  },
  nextBilling: 'Neste fakturering {date}',
  startsOn: 'Starter {date}',
  endsOn: 'Slutter {date}',
  endedOn: 'Avsluttet {date}',
  usage: 'Løpende forbruk',
  usageUnknown: 'Forbruket kan ikke vises akkurat nå.',
  credits: '{credits} kreditter',
  afterUsage: '{amount} etter løpende forbruk',
  expiresOn: 'Utløper {date}',
  invoices: 'Fakturaer',
  receipts: 'Betalingskvitteringer',
  payment: {
    paid: 'Betalt',
    settled: 'Gjort opp',
    underWay: 'Betaling på vei',
    partlyPaid: 'Delvis betalt',
    overdue: 'Forfalt',
    failed: 'Betalingen mislyktes',
    open: 'Åpen',
  },
  pay: 'Betal',
  download: 'Last ned PDF',
  left: '{amount} igjen',
  nothing: 'Ingenting her ennå.',
  newer: 'Nyere',
  older: 'Eldre',
  back: 'Tilbake til oversikten',
  notices: {
    preparing: {
      title: 'Dokumentet gjøres klart',
      text: 'Denne siden laster det av seg selv om noen sekunder.',
    },
    unauthorized: {
      title: 'Denne lenken er ikke lenger gyldig',
      text: 'Be leverandøren om en ny lenke.',
    },
    notFound: {
      title: 'Siden finnes ikke',
      text: 'Det du leter etter, er ikke her.',
    },
    tooMany: {
      title: 'For mange forespørsler',
      text: 'Vent litt og last siden på nytt.',
    },
    failed: {
      title: 'Noe gikk galt',
      text: 'Prøv igjen om noen minutter.',
    },
  },
};
