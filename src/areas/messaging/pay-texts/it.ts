import type { PayTexts } from './pay-texts.ts';

export const it: PayTexts = {
  payAmount: 'Paga {amount}',
  payHereUntil: 'Paga questa fattura qui (il link è valido fino al {date})',
  more: 'e altre {count}',
  paid: { title: 'Pagato, grazie', text: 'Il suo pagamento è arrivato.' },
  processing: { title: 'Il pagamento è in corso', text: 'Non deve fare altro. Sarà confermato appena arriva.' },
  expectedOn: 'Pagamento previsto per il {date}',
  confirm: {
    title: 'Confermi il pagamento',
    text: 'La sua banca le chiede di confermarlo.',
    button: 'Conferma il pagamento',
  },
  voided: { title: 'Questa fattura è stata annullata', text: 'Non c’è nulla da pagare.' },
  nothingDue: { title: 'Nulla da pagare', text: 'Nessun importo è più dovuto.' },
  transfer: {
    title: 'Pagamento con bonifico',
    text: 'Versi l’importo su questo conto indicando il riferimento.',
    holder: 'Intestatario del conto',
  },
  ask: 'Chieda a {issuer} come pagare.',
  opening: {
    title: 'Un momento',
    text: 'La stiamo portando alla pagina di pagamento.',
    link: 'Continua alla pagina di pagamento',
  },
  tryAgain: {
    title: 'La pagina di pagamento non si apre in questo momento',
    text: 'Non è stato addebitato nulla. Riprovi tra un minuto.',
    button: 'Riprova',
  },
  expired: { title: 'Questo link è scaduto', text: 'Ne chieda uno nuovo a chi ha emesso la fattura.' },
  mail: {
    refused: 'Non è stato possibile addebitare il suo metodo di pagamento.',
    payHere: 'Paghi qui (il link vale {days} giorni):',
    onPage: 'Le fatture si possono aprire su quella pagina.',
    view: 'Vedi le fatture',
    worksFor: 'Il link è valido per {days} giorni.',
  },
};
