// Opens what is folded where a link leads to its inside. Not all browsers do it by themselves.

function openTarget(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  let fold = target?.closest('details:not([open])')
  if (!fold) return
  for (; fold; fold = fold.parentElement?.closest('details:not([open])')) fold.setAttribute('open', '')
  target?.scrollIntoView()
}

export function openFolds(): void {
  openTarget()
  window.removeEventListener('hashchange', openTarget)
  window.addEventListener('hashchange', openTarget)
}
