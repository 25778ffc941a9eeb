# Terraform or OpenTofu: apply the instance as files after what it stands on (doc/pipelines.md). AUTHZ_SERVER and AUTHZ_ADMIN_KEY are
# variables of the environment, so no secret is in the state.
resource "terraform_data" "authz" {
  # Each change of a file is applied.
  triggers_replace = [for file in sort(fileset("${path.module}/instance", "**")) : filesha256("${path.module}/instance/${file}")]

  provisioner "local-exec" {
    working_dir = path.module
    # 2 is a plan that changes something; a refused one leaves no file, and apply fails.
    command = "./pipeline.sh plan instance plan.json || [ $? -eq 2 ] && ./pipeline.sh apply plan.json"
  }
}
