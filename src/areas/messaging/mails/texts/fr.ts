import type { MailTexts } from './mail-texts.ts';

export const fr: MailTexts = {
  words: {
    invoice: {
      subject: 'Facture {number} de {seller} : {amount} à payer avant le {due_date}',
      intro: 'Votre facture {number} est jointe en PDF.',
      closing: '',
    },
    credit_note: {
      subject: 'Avoir {number} de {seller} : {amount}',
      intro: 'Votre avoir {number} est joint en PDF.',
      closing: '',
    },
    payment_receipt: {
      subject: 'Reçu {number} de {seller} : {amount}',
      intro: 'Merci pour votre paiement. Le reçu {number} est joint en PDF.',
      closing: '',
    },
    invoice_overdue: {
      subject: 'Rappel : {amount} à régler à {seller}',
      intro: 'Cela vous a peut-être échappé : ces factures restent à régler.',
      closing: 'Si vous avez payé entre-temps, ne tenez pas compte de ce message.',
    },
    payment_request: {
      subject: '{seller} : {amount} à régler',
      intro: 'Ces factures de {seller} sont en retard :',
      closing: '',
    },
    payment_action: {
      subject: '{seller} : Confirmez votre paiement',
      intro: 'Ce paiement vous attend.',
      closing: '',
    },
    payment_failed: {
      subject: '{seller} : le paiement de {amount} a échoué',
      intro: 'La facture {number} n’a pas pu être prélevée. Vous pouvez la payer autrement.',
      closing: '',
    },
    portal_link: {
      subject: 'Votre lien vers vos pages chez {seller}',
      intro: 'Voici le nouveau lien vers vos factures, votre consommation et vos moyens de paiement.',
      closing: 'Si vous ne l’avez pas demandé, vous n’avez rien à faire.',
    },
    details_changed: {
      subject: 'Vos coordonnées de facturation chez {seller} ont changé',
      intro: 'L’adresse e-mail de vos factures a été modifiée sur vos pages. Cette adresse ne reçoit plus de factures.',
      closing: 'Si ce n’était pas vous, répondez à cet e-mail.',
    },
  },
  settled: 'Facture {number} de {seller}',
  firm: {
    subject: 'Toujours en retard : {amount} à régler à {seller}',
    intro: 'Malgré notre rappel, ces factures restent à régler. Merci de les payer maintenant.',
  },
  final: {
    subject: 'Dernier rappel : {amount} à régler à {seller}',
    intro: 'Ceci est le dernier rappel pour ces factures en retard. Merci de payer sans délai ou de nous contacter.',
  },
  overdueBy: 'en retard de {days}',
  pages: 'Voir vos factures et votre consommation',
  worksFor: 'Le lien fonctionne {hours} heures.',
  openPages: 'Ouvrir mes pages',
  keepLink: 'Le lien fonctionne {hours} heures. Qui le possède peut ouvrir vos pages : ne le transmettez pas.',
};
