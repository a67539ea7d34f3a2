import type { PortalTexts } from './portal-texts.ts';

export const it: PortalTexts = {
  title: 'Fatturazione',
  balance: 'Saldo',
  due: 'Da pagare',
  overdue: 'Scaduto',
  subscriptions: 'Abbonamenti',
  states: {
    active: 'Attivo',
    pending: 'Inizia più tardi',
    incomplete: 'In attesa di pagamento',
    terminated: 'Terminato',
  },
  nextBilling: 'Prossima fatturazione il {date}',
  startsOn: 'Inizia il {date}',
  endsOn: 'Termina il {date}',
  endedOn: 'Terminato il {date}',
  usage: 'Consumo attuale',
  usageUnknown: 'Al momento il consumo non può essere mostrato.',
  credits: '{credits} crediti',
  afterUsage: '{amount} dopo il consumo attuale',
  expiresOn: 'Scade il {date}',
  invoices: 'Fatture',
  receipts: 'Ricevute di pagamento',
  payment: {
    paid: 'Pagata',
    settled: 'Saldata',
    underWay: 'Pagamento in corso',
    partlyPaid: 'Pagata in parte',
    overdue: 'Scaduta',
    failed: 'Pagamento non riuscito',
    open: 'Da pagare',
  },
  pay: 'Paga',
  download: 'Scarica PDF',
  left: 'Restano {amount}',
  nothing: 'Ancora niente.',
  newer: 'Più recenti',
  older: 'Meno recenti',
  back: 'Torna al riepilogo',
  notices: {
    preparing: {
      title: 'Il documento è in preparazione',
      text: 'Questa pagina lo caricherà da sola tra pochi secondi.',
    },
    unauthorized: {
      title: 'Questo link non è più valido',
      text: 'Chieda un nuovo link al suo fornitore.',
    },
    notFound: {
      title: 'Questa pagina non esiste',
      text: 'Quello che cerca non è qui.',
    },
    tooMany: {
      title: 'Troppe richieste',
      text: 'Attenda un momento e ricarichi la pagina.',
    },
    failed: {
      title: 'Qualcosa è andato storto',
      text: 'Riprovi tra qualche minuto.',
    },
  },
};
