import type { PayTexts } from './pay-texts.ts';

export const sv: PayTexts = {
  payAmount: 'Betala {amount}',
  payHereUntil: 'Betala fakturan här (länken gäller till {date})',
  more: 'och {count} till',
  paid: { title: 'Betalt, tack', text: 'Din betalning har kommit fram.' },
  processing: {
    title: 'Din betalning är på väg',
    text: 'Du behöver inte göra något mer. Den bekräftas så snart den har kommit fram.',
  },
  expectedOn: 'Betalningen väntas {date}',
  confirm: { title: 'Bekräfta din betalning', text: 'Din bank ber dig bekräfta den.', button: 'Bekräfta betalningen' },
  voided: { title: 'Den här fakturan har makulerats', text: 'Det finns inget att betala.' },
  nothingDue: { title: 'Inget att betala', text: 'Inget belopp är längre förfallet.' },
  transfer: {
    title: 'Betala med banköverföring',
    text: 'Överför beloppet till det här kontot och ange referensen.',
    holder: 'Kontoinnehavare',
  },
  ask: 'Fråga {issuer} hur du kan betala.',
  opening: { title: 'Ett ögonblick', text: 'Du skickas till betalsidan.', link: 'Fortsätt till betalsidan' },
  tryAgain: {
    title: 'Betalsidan kan inte öppnas just nu',
    text: 'Inget har dragits. Försök igen om en minut.',
    button: 'Försök igen',
  },
  expired: { title: 'Den här länken har gått ut', text: 'Be fakturans avsändare om en ny.' },
  mail: {
    refused: 'Ditt betalsätt kunde inte debiteras.',
    payHere: 'Betala här (länken fungerar i {days} dagar):',
    onPage: 'Fakturorna kan öppnas på den sidan.',
    view: 'Visa fakturorna',
    worksFor: 'Länken gäller i {days} dagar.',
  },
};
