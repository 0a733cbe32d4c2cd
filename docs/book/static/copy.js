// A button on each block: copies its commands without prompts and outputs, or all of a block without prompts.
for (const block of document.querySelectorAll("div.highlight")) {
  const text = block.querySelector("pre");
  if (!text || !navigator.clipboard) continue;
  const button = document.createElement("button");
  button.className = "copy";
  button.type = "button";
  button.textContent = "copy";
  button.addEventListener("click", async () => {
    const lines = text.textContent.split("\n");
    const commands = lines.filter((line) => /^[$>] /.test(line)).map((line) => line.slice(2));
    await navigator.clipboard.writeText((text.querySelector(".gp") ? commands : lines).join("\n").trimEnd());
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  });
  block.append(button);
}
