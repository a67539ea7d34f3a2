import type { PayTexts } from './pay-texts.ts';

export const nb: PayTexts = {
  payAmount: 'Betal {amount}',
  payHereUntil: 'Betal denne fakturaen her (lenken gjelder til {date})',
  more: 'og {count} til',
  paid: { title: 'Betalt, takk', text: 'Betalingen din er mottatt.' },
  processing: {
    title: 'Betalingen din er på vei',
    text: 'Du trenger ikke gjøre noe mer. Den bekreftes så snart den er mottatt.',
  },
  expectedOn: 'Betaling ventes {date}',
  confirm: { title: 'Bekreft betalingen din', text: 'Banken din ber deg bekrefte den.', button: 'Bekreft betalingen' },
  voided: { title: 'Denne fakturaen er annullert', text: 'Det er ingenting å betale.' },
  nothingDue: { title: 'Ingenting å betale', text: 'Ingen beløp forfaller lenger.' },
  transfer: {
    title: 'Betal med bankoverføring',
    text: 'Overfør beløpet til denne kontoen og oppgi referansen.',
    holder: 'Kontoinnehaver',
  },
  ask: 'Spør {issuer} hvordan du kan betale.',
  opening: { title: 'Et øyeblikk', text: 'Du blir sendt til betalingssiden.', link: 'Fortsett til betalingssiden' },
  tryAgain: {
    title: 'Betalingssiden kan ikke åpnes akkurat nå',
    text: 'Ingenting er belastet. Prøv igjen om et minutt.',
    button: 'Prøv igjen',
  },
  expired: { title: 'Denne lenken er utløpt', text: 'Be avsenderen av fakturaen om en ny.' },
  mail: {
    refused: 'Betalingsmåten din kunne ikke belastes.',
    payHere: 'Betal her (lenken virker i {days} dager):',
    onPage: 'Fakturaene kan åpnes på den siden.',
    view: 'Se fakturaene',
    worksFor: 'Lenken gjelder i {days} dager.',
  },
};
