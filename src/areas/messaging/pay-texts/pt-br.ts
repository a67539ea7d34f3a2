import type { PayTexts } from './pay-texts.ts';

export const ptBr: PayTexts = {
  payAmount: 'Pagar {amount}',
  payHereUntil: 'Pagar esta fatura aqui (o link vale até {date})',
  more: 'e mais {count}',
  paid: { title: 'Pago, obrigado', text: 'Recebemos o seu pagamento.' },
  processing: {
    title: 'Seu pagamento está em andamento',
    text: 'Não é preciso fazer mais nada. Ele será confirmado assim que chegar.',
  },
  expectedOn: 'Pagamento previsto para {date}',
  confirm: {
    title: 'Confirme o seu pagamento',
    text: 'Seu banco pede que você o confirme.',
    button: 'Confirmar o pagamento',
  },
  voided: { title: 'Esta fatura foi cancelada', text: 'Não há nada a pagar.' },
  nothingDue: { title: 'Nada a pagar', text: 'Nenhum valor está mais em aberto.' },
  transfer: {
    title: 'Pagar por transferência',
    text: 'Transfira o valor para esta conta e informe a referência.',
    holder: 'Titular da conta',
  },
  ask: 'Pergunte a {issuer} como pagar.',
  opening: {
    title: 'Um momento',
    text: 'Você está sendo levado à página de pagamento.',
    link: 'Continuar para a página de pagamento',
  },
  tryAgain: {
    title: 'A página de pagamento não pode ser aberta no momento',
    text: 'Nada foi cobrado. Tente de novo em um minuto.',
    button: 'Tentar de novo',
  },
  expired: { title: 'Este link expirou', text: 'Peça um novo a quem emitiu a fatura.' },
  mail: {
    refused: 'Não foi possível cobrar a sua forma de pagamento.',
    payHere: 'Pague aqui (o link vale por {days} dias):',
    onPage: 'As faturas podem ser abertas nessa página.',
    view: 'Ver as faturas',
    worksFor: 'O link vale por {days} dias.',
  },
};
