import type { MailTexts } from './mail-texts.ts';

export const it: MailTexts = {
  words: {
    invoice: {
      subject: 'Fattura {number} di {seller}: {amount}, scadenza {due_date}',
      intro: 'La sua fattura {number} è allegata in PDF.',
      closing: '',
    },
    credit_note: {
      subject: 'Nota di credito {number} di {seller}: {amount}',
      intro: 'La sua nota di credito {number} è allegata in PDF.',
      closing: '',
    },
    payment_receipt: {
      subject: 'Ricevuta {number} di {seller}: {amount}',
      intro: 'Grazie per il pagamento. La ricevuta {number} è allegata in PDF.',
      closing: '',
    },
    invoice_overdue: {
      subject: 'Promemoria: {amount} scaduti con {seller}',
      intro: 'Forse le è sfuggito: queste fatture sono ancora aperte.',
      closing: 'Se nel frattempo ha pagato, ignori questo messaggio.',
    },
    payment_request: {
      subject: '{seller}: {amount} da pagare',
      intro: 'Queste fatture di {seller} sono scadute:',
      closing: '',
    },
    payment_action: { subject: '{seller}: Confermi il pagamento', intro: 'Questo pagamento la attende.', closing: '' },
    payment_failed: {
      subject: '{seller}: pagamento di {amount} non riuscito',
      intro: 'Non è stato possibile addebitare la fattura {number}. Può pagarla in un altro modo.',
      closing: '',
    },
    portal_link: {
      subject: 'Il link alle sue pagine presso {seller}',
      intro: 'Ecco il nuovo link alle sue fatture, al consumo e ai metodi di pagamento.',
      closing: 'Se non l’ha chiesto, non deve fare niente.',
    },
    details_changed: {
      subject: 'I suoi dati di fatturazione presso {seller} sono cambiati',
      intro: 'L’e-mail per le fatture è stata cambiata nelle sue pagine. Questo indirizzo non riceve più fatture.',
      closing: 'Se non è stato lei, risponda a questa e-mail.',
    },
  },
  settled: 'Fattura {number} di {seller}',
  firm: {
    subject: 'Ancora scaduti: {amount} con {seller}',
    intro: 'Nonostante il nostro promemoria, queste fatture sono ancora aperte. La preghiamo di pagarle ora.',
  },
  final: {
    subject: 'Ultimo promemoria: {amount} scaduti con {seller}',
    intro: 'Questo è l’ultimo promemoria per queste fatture scadute. La preghiamo di pagare subito o di contattarci.',
  },
  overdueBy: 'in ritardo di {days}',
  pages: 'Vedi fatture e consumo',
  worksFor: 'Il link funziona per {hours} ore.',
  openPages: 'Apri le mie pagine',
  keepLink: 'Il link funziona per {hours} ore. Chi lo possiede può aprire le sue pagine: non lo inoltri.',
};
