// Copy buttons beside commands. Without this script they stay hidden.

for (const button of document.querySelectorAll("button[data-copies]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const copied = await copy(document.getElementById(button.dataset.copies));
    button.textContent = copied ? "Copied" : "Press Ctrl+C";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
}

async function copy(command) {
  try {
    await navigator.clipboard.writeText(command.textContent);
    return true;
  } catch {
    // The clipboard API needs https or localhost. Copying a selection works everywhere.
    getSelection().selectAllChildren(command);
    return document.execCommand("copy");
  }
}
